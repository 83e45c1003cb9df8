package uri

import (
	"errors"
	"strings"
	"testing"
)

// TestUndefinedAndEmpty distinguishes empty components from undefined ones.
func TestUndefinedAndEmpty(t *testing.T) {
	for in, want := range map[string]string{ // want lists the defined components
		"":             "",
		"//":           "authority",
		"//@":          "authority userinfo",
		"//:":          "authority port",
		"//@:":         "authority userinfo port",
		"?":            "query",
		"#":            "fragment",
		"?#":           "query fragment",
		"a:":           "scheme",
		"a:#":          "scheme fragment",
		"a://@:?#":     "scheme authority userinfo port query fragment",
		"#?":           "fragment",
		"a:///":        "scheme authority",
		"a:/@:/":       "scheme",
		"//h/@:":       "authority",
		"//h?a@b:c#":   "authority query fragment",
		"a://h#//b?c":  "scheme authority fragment",
		"//a:b@":       "authority userinfo",
		"//[::1]:":     "authority port",
		"//@[v1.:]:80": "authority userinfo port",
	} {
		u, err := ParseReference(in)
		if err != nil {
			t.Errorf("%q: %v", in, err)
			continue
		}
		got := []string{}
		for _, name := range []string{"scheme", "authority", "userinfo", "port", "query", "fragment"} {
			if components(u)[name] != nil {
				got = append(got, name)
			}
		}
		if got := strings.Join(got, " "); got != want {
			t.Errorf("%q defines %q, want %q", in, got, want)
		}
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct {
		in     string
		offset int
		reason string
	}{
		{"", 0, "no scheme"},
		{"/a", 0, "no scheme"},
		{"1a:b", 2, "colon in the first segment of a relative path"},
		{":a", 0, "colon in the first segment of a relative path"},
		{"a%20:b", 4, "colon in the first segment of a relative path"},
		{"a b", 1, "space in path"},
		{"a:\x00", 2, "control character in path"},
		{"a:\x7f", 2, "control character in path"},
		{"a:/é", 3, "byte outside ASCII in path"},
		{"a:[", 2, "character not allowed in path"},
		{"a:%", 2, "malformed percent-encoding in path"},
		{"a:%4", 2, "malformed percent-encoding in path"},
		{"a:b%4g", 3, "malformed percent-encoding in path"},
		{"a:?b c", 4, "space in query"},
		{"a:?b#c#", 6, "character not allowed in fragment"},
		{"http://h:8o/", 10, "character not allowed in port"},
		{"http://h:+1/", 9, "character not allowed in port"},
		{"http://u@h:-1", 11, "character not allowed in port"},
		{"http://[::1]:x", 13, "character not allowed in port"},
		{"http://a@b@c/", 10, "character not allowed in host"},
		{"http://127.0.0.1\\@x/", 16, "character not allowed in authority"},
		{"http://u:se cret@h/", 11, "space in authority"},
		{"http://u:secret%@h/", 15, "malformed percent-encoding in authority"},
		{"http://a[::1]/", 8, "character not allowed in authority"},
		{"http://[::1]x/", 12, "character not allowed in host"},
		{"http://[::1/", 7, "IP literal without closing bracket"},
		{"http://[127.0.0.1]/", 7, "malformed IPv6 literal"},
		{"http://u@[:::]/", 9, "malformed IPv6 literal"},
		{"http://[v.x]/", 7, "malformed IPvFuture literal"},
		{"http://[]/", 7, "malformed IPv6 literal"},
		{"http://[fe80::1%25eth0]/", 15, "zone identifier in IPv6 literal"},
		{"http://h/\r\nX: y", 9, "control character in path"},
	} {
		u, err := Parse(c.in)
		var e *Error
		if !errors.As(err, &e) || e.Offset != c.offset || e.Reason != c.reason || !u.IsZero() {
			t.Errorf("Parse(%q) = %#v, %v; want byte %d: %s", c.in, u, err, c.offset, c.reason)
		}
	}
}

// TestErrorsDoNotQuoteInput verifies that errors at any offset do not contain
// the input.
func TestErrorsDoNotQuoteInput(t *testing.T) {
	const good = "ftp://user:qqqq@[fe80::1]:21/qqqq?qqqq#qqqq"
	for i := range len(good) {
		for _, bad := range []string{" ", "%", "[", "]", "@", "\x00", "é", ":", "#"} {
			_, err := Parse(good[:i] + bad + good[i:])
			if err != nil && strings.Contains(err.Error(), "qq") {
				t.Errorf("%q at %d: %v", bad, i, err)
			}
		}
	}
}

func TestMustParse(t *testing.T) {
	defer func() {
		if s, ok := recover().(string); !ok || strings.Contains(s, "secret") {
			t.Errorf("panic with %v", s)
		}
	}()
	MustParse("ftp://u:secret@h h/")
}

func TestProductions(t *testing.T) {
	for p := FullURI; p <= IPv6Address; p++ {
		if got, ok := ParseProduction(p.String()); !ok || got != p {
			t.Errorf("ParseProduction(%q) = %v, %v", p, got, ok)
		}
	}
	if _, ok := ParseProduction("uri"); ok {
		t.Error(`ParseProduction accepts "uri"`)
	}
	if Valid("a:b", Production(99)) || Production(99).String() != "unknown" {
		t.Error("production 99 has a name")
	}
	for _, c := range []struct {
		in  string
		yes []Production
	}{
		{"a:b", []Production{FullURI, URIReference, AbsoluteURI}},
		{"a:b#", []Production{FullURI, URIReference}},
		{"b#", []Production{URIReference, RelativeRef}},
		{"::", []Production{IPv6Address}},
		{"1.2.3.4", []Production{URIReference, RelativeRef, IPv4Address}},
		{"[::1]", nil},
		{"::1%25x", nil},
	} {
		for p := FullURI; p <= IPv6Address; p++ {
			want := false
			for _, q := range c.yes {
				want = want || p == q
			}
			if got := Valid(c.in, p); got != want {
				t.Errorf("Valid(%q, %v) = %v", c.in, p, got)
			}
		}
	}
}

func TestParseDoesNotAllocate(t *testing.T) {
	for _, in := range []string{
		"http://u:p@h.example:80/a/b?c#d",
		"//[2001:db8::192.0.2.1]/",
		"http://256.256.256.256/",
		"mailto:a@b",
	} {
		if n := testing.AllocsPerRun(100, func() { ParseReference(in) }); n != 0 {
			t.Errorf("ParseReference(%q) allocates %v times", in, n)
		}
	}
}
