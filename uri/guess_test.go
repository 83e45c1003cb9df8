package uri

import (
	"errors"
	"strings"
	"testing"
)

func TestGuess(t *testing.T) {
	for _, c := range []struct{ text, scheme, want string }{ // want: "!" means unchanged, "" means an error
		{"www.w3.org/Addressing/", "", "http://www.w3.org/Addressing/"},
		{"example.org", "", "http://example.org"},
		{"example.org?q#f", "", "http://example.org?q#f"},
		{"ftp.example.org", "", "ftp://ftp.example.org"},
		{"FTP.Example.org/a", "", "ftp://FTP.Example.org/a"},
		{"gopher.x.org/1/", "", "gopher://gopher.x.org/1/"},
		{"imap.x.org", "", "imap://imap.x.org"},
		{"news.x.org/comp.x", "", "http://news.x.org/comp.x"},
		{"nntp.x.org:1119", "", "nntp://nntp.x.org:1119"},
		{"telnet.x.org", "", "telnet://telnet.x.org"},
		{"wais.x.org/db", "", "wais://wais.x.org/db"},
		{"ftp", "", "http://ftp"},
		{"ftpx.org", "", "http://ftpx.org"},
		{"localhost", "", "http://localhost"},
		{"localhost:8080/x", "", "http://localhost:8080/x"},
		{"my_host:1/", "", "http://my_host:1/"},
		{"[::1]/", "", "http://[::1]/"},
		{"[fe80::1%25eth0]:8080", "", "http://[fe80::1%25eth0]:8080"},
		{"192.0.2.1:80", "", "http://192.0.2.1:80"},
		{"example.org.", "", "http://example.org."},
		{"example.org/a@b:c", "", "http://example.org/a@b:c"},
		{"m%C3%BCller.de", "", "http://m%C3%BCller.de"},

		{"ftp.example.org", "https", "https://ftp.example.org"},
		{"example.org/1", "Gopher", "Gopher://example.org/1"},
		{"http://example.org", "https", "!"},
		{"example.org", "a b", ""},
		{"example.org", "1", ""},
		{"example.org", "http://x@", ""},

		{"/etc/motd", "", "file:///etc/motd"},
		{"/a b%41?c#d\xff", "https", "file:///a%20b%2541%3Fc%23d%FF"},

		{" <http://a/\nb>\t", "", "http://a/b"},
		{"<URL: www.a.org/>", "", "http://www.a.org/"},
		{`"www.a.org"`, "", "http://www.a.org"},
		{"URL:ftp://a", "", "ftp://a"},
		{"<", "", ""},
		{`"`, "", ""},

		// The colon after the scheme is missing.
		{"http//u:pw@h/", "", ""},
		{"https//h/", "", ""},
		{"ftp//u:pw@h/", "", ""},
		{"htttp//u:pw@h/", "", ""},
		{"HTTP//h", "", ""},
		{"http///u:pw@h/", "", ""},
		{"http/u:pw@h/", "", ""},
		{"http.//u:pw@h/", "", ""},
		{"htttp:80//u:pw@h/", "", ""},
		{"<http//u:pw@h/>", "", ""},
		{"http//u:pw@h/", "ftp", ""},
		{"example.org//a", "", "http://example.org//a"},
		{"localhost:80//a", "", "http://localhost:80//a"},
		{"localhost?//a@b", "", "http://localhost?//a@b"},
		{"ftp/pub", "", "http://ftp/pub"},

		// The text has a scheme and is not changed.
		{"http:foo", "", "!"},
		{"gopher://h:x/", "", ""},
		{"foo://bar@baz", "", "!"},
		{"mailto:b@c", "", "!"},
		{"tel:555", "", "!"},
		{"news:1234", "", "!"},
		{"urn:isbn:0", "", "!"},
		{"x-exec:date", "", "!"},

		// A word and a number are a host and a port if the port is valid.
		{"host:80/x", "", "http://host:80/x"},
		{"host:80?x", "", "http://host:80?x"},
		{"ftp.x.org:21", "", "ftp://ftp.x.org:21"},
		{"example.org:65535", "", "http://example.org:65535"},
		{"host:65536", "", "!"},
		{"host:0", "", "!"},
		{"host:000080", "", "!"},
		{"host:+80", "", "!"},
		{"host:80x", "", "!"},
		{"host:", "", "!"},
		{"FTP:21", "", "!"},

		// A user name without a scheme is an error (CVE-2024-10524).
		{"a:b@c", "", ""},
		{"a:b@c", "http", ""},
		{"user.name:pass@host/x", "", ""},
		{"user:80@host", "", ""},
		{"user@host", "", ""},
		{"us_er:pass@host", "", ""},
		{"a:b@c:80/d", "", ""},
		{"127.0.0.1:80@host", "", ""},
		{"[::1]@host", "", ""},
		{"host:80/@c", "", "http://host:80/@c"},

		// The text starts with neither a scheme nor a host.
		{"", "", ""},
		{" ", "", ""},
		{"//host/p", "", ""},
		{"?q", "", ""},
		{"#f", "", ""},
		{"./a", "", ""},
		{"../a", "", ""},
		{".", "", ""},
		{":80", "", ""},
		{"~user", "", ""},
		{"a b", "", ""},
		{"www.a.org/\r\nX: y", "", ""},
		{"http://h/a\r\nX: y", "", ""},
		{"a,b", "", ""},
		{"a%2fb", "", ""},
		{"a%7f", "", ""},
		{`host\@evil`, "", ""},
		{`C:\x`, "", ""},
		{"müller.de", "", ""},
		{"[v1.x]", "", ""},
		{"[::1", "", ""},
		{"::1", "", ""},
		{"-x:y@z", "", ""},
	} {
		u, guessed, err := Guess(c.text, c.scheme)
		want, wantGuessed := c.want, c.want != ""
		if want == "!" || want != "" && strings.Contains(Unwrap(c.text), "://") {
			wantGuessed = false
			if want == "!" {
				want = c.text
			}
		}
		if u.Unredacted() != want || guessed != wantGuessed || (err == nil) != (want != "") {
			t.Errorf("Guess(%q, %q) = %q, %v, %v; want %q, %v", c.text, c.scheme, u.Unredacted(), guessed, err, want, wantGuessed)
		}
	}
}

func TestGuessErrors(t *testing.T) {
	for _, c := range []struct {
		text   string
		offset int
	}{
		{" a:b@c", 2}, {"<URL: user@host>", 10}, {"www.a.org/ b", 10}, {`"http://a|"`, 9}, {"", 0},
	} {
		_, _, err := Guess(c.text, "")
		if e := (*Error)(nil); !errors.As(err, &e) || e.Offset != c.offset {
			t.Errorf("Guess(%q): %v, want one at byte %d", c.text, err, c.offset)
		}
	}
}

func TestUnwrap(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", ""}, {" a ", "a"}, {"<a>", "a"}, {"< a\n b >", "ab"}, {"<URL:a>", "a"}, {"url: a", "a"}, {"URL:", "URL:"},
		{`"a b"`, "a b"}, {`"a`, `"a`}, {"<a", "<a"}, {"<>", ""}, {"a b", "a b"}, {"URI:URL:a", "URL:a"},
	} {
		if got := Unwrap(c.text); got != c.want {
			t.Errorf("Unwrap(%q) = %q, want %q", c.text, got, c.want)
		}
	}
}

// FuzzGuess verifies that Guess only adds a scheme, and that a guessed URI has
// no userinfo.
func FuzzGuess(f *testing.F) {
	for _, s := range []string{"www.a.org/x", "a:b@c", "host:80/x", "/a b", "<URL: x>", "[::1%25e]:1", "//h", "%C3"} {
		f.Add(s, "")
		f.Add(s, "ftp")
	}
	f.Fuzz(func(t *testing.T, text, scheme string) {
		if len(text)+len(scheme) > 1<<8 {
			return // skip long input, because the grammar is slow
		}
		u, guessed, err := Guess(text, scheme)
		bare := Unwrap(text)
		if e := (*Error)(nil); err != nil && (guessed || !u.IsZero() || !errors.As(err, &e) || e.Offset < 0 || e.Offset > len(text)) {
			t.Fatalf("Guess(%q, %q) = %q, %v, %#v", text, scheme, u.Unredacted(), guessed, err)
		}
		if err != nil {
			return
		}
		checkURI(t, u)
		s := u.Unredacted()
		if u.Scheme() == "" || guessed && !strings.HasPrefix(bare, "/") && !strings.HasSuffix(s, "://"+bare) || !guessed && s != bare {
			t.Errorf("Guess(%q, %q) = %q, %v", text, scheme, s, guessed)
		}
		if _, login := u.Userinfo(); guessed && login {
			t.Errorf("Guess(%q, %q) = %q, which has a userinfo", text, scheme, s)
		}
		if path, err := Unescape(u.Path()); guessed && bare[0] == '/' && (err != nil || path != bare || u.Scheme() != "file") {
			t.Errorf("Guess(%q, %q) = %q", text, scheme, s)
		}
	})
}
