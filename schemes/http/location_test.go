package http

import (
	"strings"
	"testing"

	"github.com/anyurl/fetch/uri"
)

func TestLocation(t *testing.T) {
	base := uri.MustParse("http://u:s3cret@h:8080/a/b?q#f")
	for _, test := range []struct {
		text, want string
		repaired   bool
	}{
		{"http://x/y", "http://x/y", false},
		{"/y?z#w", "http://h:8080/y?z#w", false},
		{"y", "http://h:8080/a/y", false},
		{"//x/y", "http://x/y", false},
		{"?y", "http://h:8080/a/b?y", false},
		{"#y", "http://h:8080/a/b?q#y", false},
		{"../../../y", "http://h:8080/y", false},
		{" \t/y\t ", "http://h:8080/y", false},
		{"/a b", "http://h:8080/a%20b", true},
		{"/a?b c#d e", "http://h:8080/a?b%20c#d%20e", true},
		{"/\xe4\xbd\xa0?\xe5", "http://h:8080/%E4%BD%A0?%E5", true},
		{`/a\b`, "http://h:8080/a%5Cb", true},
		{`\\x\y`, "http://h:8080/a/%5C%5Cx%5Cy", true},
		{`/\x/y`, "http://h:8080/%5Cx/y", true},
		{"/100%", "http://h:8080/100%25", true},
		{"/%zz%20", "http://h:8080/%25zz%20", true},
		{"/{a}|b^`<>\"", "http://h:8080/%7Ba%7D%7Cb%5E%60%3C%3E%22", true},
		{"/[a]?[b]", "http://h:8080/%5Ba%5D?%5Bb%5D", true},
		{"/a#b#c", "http://h:8080/a#b%23c", true},
		{"http://x/a b", "http://x/a%20b", true},
		{"gopher://x/1a", "gopher://x/1a", false},
	} {
		got, repaired, err := location(base, test.text)
		if err != nil || got.Unredacted() != test.want || repaired != test.repaired {
			t.Errorf("location(%q) = %q, %t, %v, want %q, %t", test.text, got.Unredacted(), repaired, err, test.want, test.repaired)
		}
	}
	for _, text := range []string{"http://a b/", "http://x\\@y/", "http://[::1/", "http://a@b@c/", "/a\x00b", "/a\x7f", "http://x:8a/", "http://\xe4/"} {
		if got, _, err := location(base, text); err == nil {
			t.Errorf("location(%q) = %q, want an error", text, got.Unredacted())
		}
	}
}

func FuzzLocation(f *testing.F) {
	for _, s := range []string{"/a b", "http://x/y", `\\x`, "//u@h:80/%", "a:b c", "?#", "/\xff"} {
		f.Add(s)
	}
	base := uri.MustParse("http://u:s3cret@h:8080/a/b?q#f")
	f.Fuzz(func(t *testing.T, text string) {
		u, _, err := location(base, text)
		if err != nil {
			return
		}
		if _, err := uri.Parse(u.Unredacted()); err != nil {
			t.Errorf("%q became %q: %v", text, u.Unredacted(), err)
		}
		if strings.Contains(u.Unredacted(), "s3cret") && !strings.Contains(text, "s3cret") {
			t.Errorf("%q got the password", text)
		}
		// Nothing touches where the request goes.
		if authority, ok := u.Authority(); ok && authority != "h:8080" && !strings.Contains(text, "//"+authority) {
			t.Errorf("%q leads to %q", text, authority)
		}
		if again, repaired, err := location(base, u.Unredacted()); err != nil || repaired || again.Unredacted() != u.Unredacted() {
			t.Errorf("%q: %q is no fixpoint: %q, %t, %v", text, u.Unredacted(), again.Unredacted(), repaired, err)
		}
	})
}
