package uri

import (
	"strings"
	"testing"
)

func TestRepair(t *testing.T) {
	for _, c := range []struct{ text, want string }{ // want: "!" means unchanged
		{"http://h/a?b[]=1&c={2}", "http://h/a?b%5B%5D=1&c=%7B2%7D"},
		{"http://h/a|b^c`d\\e", "http://h/a%7Cb%5Ec%60d%5Ce"},
		{`http://h/?q="a b"<c>`, "http://h/?q=%22a%20b%22%3Cc%3E"},
		{"http://h/100%", "http://h/100%25"},
		{"http://h/%4", "http://h/%254"},
		{"http://h/%zz%41%4g%", "http://h/%25zz%41%254g%25"},
		{"http://h/?a%", "http://h/?a%25"},
		{"http://h?a b", "http://h?a%20b"},
		{"http://h#a b", "http://h#a%20b"},
		{"http://h/a#b#c", "http://h/a#b%23c"},
		{"http://h/a#?[#", "http://h/a#?%5B%23"},
		{"http://[::1]:80/[x]", "http://[::1]:80/%5Bx%5D"},
		{"http://u:p@h/a[]", "http://u:p@h/a%5B%5D"},
		{"file:///a b/100%", "file:///a%20b/100%25"},
		{"h.example/a b", "h.example/a%20b"},
		{"localhost:8080/a b", "localhost:8080/a%20b"},
		{"[::1]/a b", "[::1]/a%20b"},
		{"/a b", "/a%20b"},
		{"//h/a b", "//h/a%20b"},
		{"http://h/ä b", "http://h/ä%20b"},
		{"http://h/\xff b", "http://h/\xff%20b"},

		// Text outside the path, the query and the fragment is kept.
		{"http://u[:p w@h x/", "!"},
		{"http://h\\@g/", "!"},
		{"http://h /a", "!"},
		{"mailto:a b@c", "!"},
		{"urn:a b", "!"},
		{"http:/a b", "!"},
		{"a:b c@d/e f", "!"},
		{"", "!"},

		// Text with control characters is kept.
		{"http://h/a b\r\nHost: x", "!"},
		{"http://h/a\tb[", "!"},
		{"http://h/a b\x7f", "!"},
		{"http://h/a b\x00", "!"},
	} {
		want := c.want
		if want == "!" {
			want = c.text
		}
		if got := Repair(c.text); got != want {
			t.Errorf("Repair(%q) = %q, want %q", c.text, got, want)
		}
	}
}

// TestRepairGuessed checks that Guess accepts repaired text.
func TestRepairGuessed(t *testing.T) {
	for text, want := range map[string]string{
		"http://h/a b":        "http://h/a%20b",
		"h.example:1/[a]":     "http://h.example:1/%5Ba%5D",
		"http://h/\u00e4?a|b": "http://h/%C3%A4?a%7Cb",
	} {
		u, _, err := Guess(EscapeNonASCII(Repair(text)), "")
		if err != nil || u.String() != want {
			t.Errorf("%q became %q, %v, want %q", text, u, err, want)
		}
	}
}

// FuzzRepair checks that Repair does not change a valid URL, the authority or
// repaired text, and that the result has no invalid character behind the
// authority.
func FuzzRepair(f *testing.F) {
	for _, text := range []string{"http://h/a?b[]=1#c#", "h:80/%", "a:b@c/ d", "http://u@[::1]/{}", "//h\\/ ", "/\x00 "} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := Repair(text)
		if again := Repair(got); again != got {
			t.Errorf("Repair(%q) = %q, and Repair(%q) = %q", text, got, got, again)
		}
		if len(got) > 3*len(text) {
			t.Errorf("Repair(%q) has %d bytes", text, len(got))
		}
		if u, err := ParseZone(text); err == nil && u.Scheme() != "" && got != text {
			t.Errorf("Repair(%q) = %q, but the URL is valid", text, got)
		}
		i, ok := authorityEnd(text)
		if j, same := authorityEnd(got); same != ok || j != i || got[:i] != text[:i] {
			t.Fatalf("Repair(%q) = %q, which has another authority", text, got)
		}
		if !ok || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			return
		}
		if rest := got[i:]; rest != "" && !Valid("http://h"+EscapeNonASCII(rest), FullURI) {
			t.Errorf("Repair(%q) = %q, which is invalid after byte %d", text, got, i)
		}
	})
}
