package baseuri

import (
	"strings"
	"testing"

	"github.com/anyurl/fetch/uri"
)

func TestLocation(t *testing.T) {
	from := uri.MustParse("http://u:s3cret@h:8080/a/b?q#f")
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

		// Hosts in UTF-8 are IDNA names and may map to IP addresses.
		{"http://bücher.example/a", "http://xn--bcher-kva.example/a", true},
		{"//BÜCHER.example:81/a?ü#ü", "http://xn--bcher-kva.example:81/a?%C3%BC#%C3%BC", true},
		{"http://bücher.example./a b", "http://xn--bcher-kva.example./a%20b", true},
		{"http://b%C3%BCcher.example/a", "http://xn--bcher-kva.example/a", true},
		{"gopher://日本.example/1a", "gopher://xn--wgv71a.example/1a", true},
		{"http://faß.example/", "http://xn--fa-hia.example/", true},
		{"http://１２７.0.0.1/", "http://127.0.0.1/", true},
		{"http://ｌocalhost/", "http://localhost/", true},
		{"http://a%2fb/", "http://a%2fb/", false}, // rejected later as the host of a fetch.Target
	} {
		got, repaired, err := ResolveLocation(from, test.text)
		if err != nil || got.Unredacted() != test.want || repaired != test.repaired {
			t.Errorf("ResolveLocation(%q) = %q, %t, %v, want %q, %t", test.text, got.Unredacted(), repaired, err, test.want, test.repaired)
		}
	}
	for _, text := range []string{"http://a b/", "http://x\\@y/", "http://[::1/", "http://a@b@c/", "/a\x00b", "/a\x7f", "http://x:8a/", "http://\xe4/", "http://b\xfccher.example/",
		"http://a\u202eb.example/", "http://a／b.example/", "http://x：80/", "http://é＠x/", "http://x:８０/", "http://ü@b ü/"} {
		if got, _, err := ResolveLocation(from, text); err == nil {
			t.Errorf("ResolveLocation(%q) = %q, want an error", text, got.Unredacted())
		}
	}
}

func FuzzLocation(f *testing.F) {
	for _, s := range []string{"/a b", "http://x/y", `\\x`, "//u@h:80/%", "a:b c", "?#", "/\xff", "//bücher.example/", "//%C3%BC/", "//１２７.0.0.1/"} {
		f.Add(s)
	}
	from := uri.MustParse("http://u:s3cret@h:8080/a/b?q#f")
	f.Fuzz(func(t *testing.T, text string) {
		u, _, err := ResolveLocation(from, text)
		if err != nil {
			return
		}
		if _, err := uri.Parse(u.Unredacted()); err != nil {
			t.Errorf("%q became %q: %v", text, u.Unredacted(), err)
		}
		if strings.Contains(u.Unredacted(), "s3cret") && !strings.Contains(text, "s3cret") {
			t.Errorf("the result for %q contains the password", text)
		}
		// A repair must not change the host of the request.
		plain := !strings.Contains(text, "%") && uri.EscapeNonASCII(text) == text
		if authority, ok := u.Authority(); ok && authority != "h:8080" && plain && !strings.Contains(text, "//"+authority) {
			t.Errorf("%q has the host %q", text, authority)
		}
		if again, repaired, err := ResolveLocation(from, u.Unredacted()); err != nil || repaired || again.Unredacted() != u.Unredacted() {
			t.Errorf("%q: %q changes when resolved again: %q, %t, %v", text, u.Unredacted(), again.Unredacted(), repaired, err)
		}
	})
}

func TestAbsolute(t *testing.T) {
	for text, want := range map[string]string{
		"http://x/y":              "http://x/y",
		" http://x/a b":           "http://x/a%20b",
		"http://bücher.example/a": "http://xn--bcher-kva.example/a",
		"mailto:a@b":              "mailto:a@b",
	} {
		if got, err := ParseAbsolute(text); err != nil || got.Unredacted() != want {
			t.Errorf("ParseAbsolute(%q) = %q, %v, want %q", text, got.Unredacted(), err, want)
		}
	}
	for _, text := range []string{"", "/y", "//x/y", "a b", "http://a b/", "http://b\xfc/", "http://[fe80::1%25eth0]/"} {
		if got, err := ParseAbsolute(text); err == nil {
			t.Errorf("ParseAbsolute(%q) = %q, want an error", text, got.Unredacted())
		}
	}
}
