package iri_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/uri/iri"
)

func TestVectors(t *testing.T) {
	f, err := os.Open("testdata/iri.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n := 0
	for s := bufio.NewScanner(f); s.Scan(); n++ {
		var r struct {
			ID, Production, Input string
			Expected              bool
		}
		if err := json.Unmarshal(s.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		parse := iri.Parse
		if r.Production == "IRI-reference" {
			parse = iri.ParseReference
		}
		if u, err := parse(r.Input); (err == nil) != r.Expected {
			t.Errorf("%s: %q is %q, %v", r.ID, r.Input, u, err)
		}
	}
	if n != 25 {
		t.Errorf("%d rows", n)
	}
}

func TestParse(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{ // want "": an error
		{"a URI", "HTTP://u:p@Example.org:80/%7e?#", "HTTP://u:p@Example.org:80/%7e?#"},
		{"zone identifier", "http://[fe80::1%25eth0]/", "http://[fe80::1%25eth0]/"},
		{"no scheme", "//müller.de/", ""},
		{"nothing", "", ""},
		{"host", "http://Müller.DE/", "http://xn--mller-kva.de/"},
		{"host already escaped", "http://m%C3%BCller.de/", "http://xn--mller-kva.de/"},
		{"partially escaped host", "http://mü%6Cler.de/", "http://xn--mller-kva.de/"},
		{"host of escaped non-letters", "http://%FF%2f/", "http://%FF%2f/"},
		{"host of escaped non-letters and a letter", "http://%FFü/", ""},
		{"sharp s", "http://faß.de/", "http://xn--fa-hia.de/"},
		{"dot of the root", "http://müller.de./", "http://xn--mller-kva.de./"},
		{"ideographic dots", "http://例え。テスト/", "http://xn--r8jz45g.xn--zckzah/"},
		{"underscore", "http://_x.müller.de/", "http://_x.xn--mller-kva.de/"},
		{"userinfo and port", "ftp://ü:ß@müller.de:21/", "ftp://%C3%BC:%C3%9F@xn--mller-kva.de:21/"},
		{"path, query, fragment", "http://h/ü%C3%BC?ü#ü", "http://h/%C3%BC%C3%BC?%C3%BC#%C3%BC"},
		{"combining mark", "http://h/u\u0308", "http://h/u%CC%88"},
		{"no host", "mailto:a@müller.de", "mailto:a@m%C3%BCller.de"},
		{"full-width host", "http://\uff45\uff58ample.org/", "http://example.org/"},

		// IDNA mapping may produce delimiters.
		{"full-width slash", "http://a\uff0fb/", ""},
		{"full-width at sign", "http://a\uff20b/", ""},
		{"full-width colon", "http://a\uff1a80/", ""},
		{"full-width percent", "http://a\uff052f/", ""},
		{"account of", "http://a\u2100b/", ""},
		{"host of a soft hyphen", "http://\u00ad/", ""},
		{"empty label", "http://ü..de/", ""},
		{"long label", "http://" + strings.Repeat("ü", 64) + ".de/", ""},
		{"long name", "http://" + strings.Repeat("ü.", 127) + "de/", ""},
		{"very long name", "http://" + strings.Repeat("ü", 1<<16) + "/", ""},
		{"hyphens at the ends of a label", "http://-ü.de/", ""},
		{"left to right mark", "http://h/a\u200eb", ""},
		{"right-to-left override", "http://h/\u202egnp.exe", ""},
		{"directional isolate", "http://h/\u2066", ""},
		{"label with mixed directions", "http://א1a.de/", ""},
		{"ASCII in punycode", "http://xn--example-.ü/", ""},

		{"C1 control", "http://h/\u0085", ""},
		{"noncharacter", "http://h/\ufffe", ""},
		{"private-use character in the path", "http://h/\ue000", ""},
		{"private-use character in the query", "http://h/?\ue000", "http://h/?%EE%80%80"},
		{"private-use character in the fragment", "http://h/?#\ue000", ""},
		{"not UTF-8", "http://h/\xfc", ""},
		{"replacement character", "http://h/\ufffd", ""},
		{"space", "http://h/ü b", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			u, err := iri.Parse(c.text)
			if u.Unredacted() != c.want || (err == nil) != (c.want != "") {
				t.Errorf("Parse(%q) = %q, %v; want %q", c.text, u.Unredacted(), err, c.want)
			}
		})
	}
}

// TestParseTarget covers digits of other widths. They form an IP address, which
// the policy can judge, or a host that is rejected.
func TestParseTarget(t *testing.T) {
	for _, c := range []struct {
		text string
		kind uri.HostKind
		addr string // "" if the host is rejected
	}{
		{"http://\uff11\uff12\uff17.0.0.1/", uri.IPv4, "127.0.0.1"},
		{"http://\u2460\u2461\uff17\u30020\uff0e0\uff611/", uri.IPv4, "127.0.0.1"},
		{"http://\uff10x7f.1/", uri.RegName, ""},
		{"http://\uff12130706433/", uri.RegName, ""},
		{"http://127.0.0.\uff10\uff11/", uri.RegName, ""},
	} {
		u, err := iri.Parse(c.text)
		if err != nil || u.HostKind() != c.kind {
			t.Errorf("Parse(%q) = %q, %v", c.text, u, err)
			continue
		}
		target, err := fetch.TargetOf(u, 80)
		if c.addr == "" && err == nil || c.addr != "" && target.Addr.String() != c.addr {
			t.Errorf("%q names %v, %v", u, target, err)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for _, c := range []struct {
		text   string
		offset int
	}{
		{"http://ü/ü\u202e", 12}, {"http://ü/ü b", 12}, {"http://ü:ü@-ü-/", 13}, {"ü/ü|", 5}, {"-ü-/", 0}, {"\xff", 0},
	} {
		_, _, err := iri.Guess(c.text, "")
		if e := (*uri.Error)(nil); !errors.As(err, &e) || e.Offset != c.offset {
			t.Errorf("%q: %v, want an error at byte %d", c.text, err, c.offset)
		}
	}
	if _, err := iri.ParseReference("//[fe80::1%25eth0]/"); err == nil {
		t.Error("ParseReference accepts a zone")
	}
}

func TestGuess(t *testing.T) {
	for _, c := range []struct {
		text, scheme, want string
		guessed            bool
	}{
		{"müller.de/ü", "", "http://xn--mller-kva.de/%C3%BC", true},
		{"ftp.müller.de", "", "ftp://ftp.xn--mller-kva.de", true},
		{"müller.de:8080", "https", "https://xn--mller-kva.de:8080", true},
		{"http://müller.de", "ftp", "http://xn--mller-kva.de", false},
		{"<URL:müller.de>", "", "http://xn--mller-kva.de", true},
		{"m%C3%BCller.de", "", "http://xn--mller-kva.de", true},
		{"/home/ü\xff", "", "file:///home/%C3%BC%FF", true},
		{"ü@h", "", "", false},
		{"ü:b@h", "", "", false},
		{"user\uff20host", "", "", false},
		{"ü\uff0fx", "", "", false},
		{"-ü", "", "", false},
	} {
		u, guessed, err := iri.Guess(c.text, c.scheme)
		if u.Unredacted() != c.want || guessed != c.guessed || (err == nil) != (c.want != "") {
			t.Errorf("Guess(%q, %q) = %q, %v, %v", c.text, c.scheme, u.Unredacted(), guessed, err)
		}
	}
}

// FuzzParse verifies that the result for an IRI is a valid URI, and that all
// components except the host are preserved.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"http://Müller.de:1/ü?ü#ü", "http://\uff11.1.1.1/", "//例え。テスト", "http://a\u2100b", "x:\u202e", "m%C3%BC.de", "http://%FF", "http://א1/"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		ref, err := iri.ParseReference(text)
		plain, plainErr := uri.ParseReference(text)
		if err != nil && (plainErr == nil || !ref.IsZero()) {
			t.Fatalf("%q is a URI: %v", text, err)
		}
		if e := (*uri.Error)(nil); err != nil && (!errors.As(err, &e) || e.Offset < 0 || e.Offset > len(text)) {
			t.Fatalf("%q: %#v", text, err)
		}
		if err != nil {
			return
		}
		if again, err := uri.ParseReference(ref.Unredacted()); err != nil || again != ref {
			t.Errorf("%q gives %q: %v", text, ref.Unredacted(), err)
		}
		want, err := uri.ParseReference(uri.EscapeNonASCII(text))
		if err != nil {
			t.Fatalf("%q gives %q, want an error: %v", text, ref.Unredacted(), err)
		}
		p, q := ref.Parts(), want.Parts()
		if p.Host != q.Host {
			if p.Host == "" || strings.Trim(p.Host, "abcdefghijklmnopqrstuvwxyz0123456789-_.") != "" {
				t.Errorf("%q gives host %q", text, p.Host)
			}
			p.Host = q.Host
		} else if plainErr == nil && plain != ref {
			t.Errorf("%q gives %q", text, ref.Unredacted())
		}
		if p != q {
			t.Errorf("%q gives %q", text, ref.Unredacted())
		}
	})
}
