package http

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

var day = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func contextOf(url string) cookieContext {
	scheme, rest, _ := strings.Cut(url, "://")
	host, path, _ := strings.Cut(rest, "/")
	return cookieContext{host: host, path: "/" + path, secure: scheme == "https"}
}

func TestJar(t *testing.T) {
	for _, test := range []struct {
		name, from, set, to, want string
	}{
		{"simple", "http://a.example.com/", "a=b", "http://a.example.com/x", "a=b"},
		{"spaces and equals signs", "http://h.example.com/", "  a = b=c ; x", "http://h.example.com/", "a=b=c"},
		{"host only", "http://example.com/", "a=b", "http://a.example.com/", ""},
		{"subdomain", "http://example.com/", "a=b; Domain=.Example.com", "http://a.example.com/", "a=b"},
		{"subdomain, sibling name", "http://example.com/", "a=b; Domain=example.com", "http://notexample.com/", ""},
		{"parent domain from a subdomain", "http://a.example.com/", "a=b; Domain=example.com", "http://b.example.com/", "a=b"},
		{"other domain", "http://a.example.com/", "a=b; Domain=other.com", "http://other.com/", ""},
		{"domain of a subdomain", "http://example.com/", "a=b; Domain=a.example.com", "http://a.example.com/", ""},
		{"public suffix", "http://example.co.uk/", "a=b; Domain=co.uk", "http://other.co.uk/", ""},
		{"private public suffix", "http://me.github.io/", "a=b; Domain=github.io", "http://you.github.io/", ""},
		{"host is a public suffix", "http://github.io/", "a=b; Domain=github.io", "http://github.io/", "a=b"},
		{"public suffix, sent to a subdomain", "http://github.io/", "a=b; Domain=github.io", "http://you.github.io/", ""},
		{"address", "http://192.0.2.1/", "a=b; Domain=192.0.2.1", "http://192.0.2.1/", "a=b"},
		{"suffix of an address", "http://192.0.2.1/", "a=b; Domain=2.1", "http://1.0.2.1/", ""},
		{"path", "http://h.example.com/x/y", "a=b", "http://h.example.com/x/z", "a=b"},
		{"parent path", "http://h.example.com/x/y", "a=b", "http://h.example.com/", ""},
		{"sibling path", "http://h.example.com/", "a=b; Path=/x", "http://h.example.com/xy", ""},
		{"subdirectory", "http://h.example.com/", "a=b; Path=/x", "http://h.example.com/x/y", "a=b"},
		{"relative path", "http://h.example.com/x/y", "a=b; Path=x", "http://h.example.com/x/", "a=b"},
		{"secure", "https://h.example.com/", "a=b; Secure", "https://h.example.com/", "a=b"},
		{"secure, sent over http", "https://h.example.com/", "a=b; Secure", "http://h.example.com/", ""},
		{"secure, set over http", "http://h.example.com/", "a=b; Secure", "https://h.example.com/", ""},
		{"prefix", "https://h.example.com/", "__Secure-a=b; Secure", "https://h.example.com/", "__Secure-a=b"},
		{"prefix, not secure", "https://h.example.com/", "__Secure-a=b", "https://h.example.com/", ""},
		{"host prefix", "https://h.example.com/", "__Host-a=b; Secure; Path=/", "https://h.example.com/", "__Host-a=b"},
		{"host prefix with a domain", "https://h.example.com/", "__Host-a=b; Secure; Path=/; Domain=example.com", "https://h.example.com/", ""},
		{"host prefix in capitals, with a path", "https://h.example.com/x/", "__HOST-a=b; Secure", "https://h.example.com/x/", ""},
		{"max-age", "http://h.example.com/", "a=b; Max-Age=1", "http://h.example.com/", "a=b"},
		{"empty max-age", "http://h.example.com/", "a=b; Max-Age=0", "http://h.example.com/", ""},
		{"negative max-age", "http://h.example.com/", "a=b; Max-Age=-99999999999999", "http://h.example.com/", ""},
		{"max-age too large", "http://h.example.com/", "a=b; Max-Age=99999999999999", "http://h.example.com/", "a=b"},
		{"max-age overrides expires", "http://h.example.com/", "a=b; Max-Age=9; Expires=Thu, 01 Jan 1970 00:00:01 GMT", "http://h.example.com/", "a=b"},
		{"expired", "http://h.example.com/", "a=b; Expires=Thu, 01 Jan 1970 00:00:01 GMT", "http://h.example.com/", ""},
		{"invalid date", "http://h.example.com/", "a=b; Expires=soon", "http://h.example.com/", "a=b"},
		{"no name", "http://h.example.com/", "=b", "http://h.example.com/", ""},
		{"no value", "http://h.example.com/", "a", "http://h.example.com/", ""},
		{"control character", "http://h.example.com/", "a=b\x01", "http://h.example.com/", ""},
		{"too large", "http://h.example.com/", "a=" + strings.Repeat("x", 4096), "http://h.example.com/", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			j := NewJar()
			j.setCookies([]string{test.set}, contextOf(test.from), day)
			if got := j.cookieField(contextOf(test.to), day); got != test.want {
				t.Errorf("%q from %s to %s: sent %q, want %q", test.set, test.from, test.to, got, test.want)
			}
		})
	}
}

func TestJarOrder(t *testing.T) {
	j := NewJar()
	p := contextOf("https://h.example.com/x/y")
	j.setCookies([]string{"a=1; Path=/", "b=2; Path=/x/y", "c=3; Path=/", "a=4; Path=/"}, p, day)
	if got, want := j.cookieField(p, day), "b=2; a=4; c=3"; got != want {
		t.Errorf("sent %q, want %q", got, want)
	}
	j.setCookies([]string{"c=; Max-Age=0; Path=/"}, p, day)
	if got, want := j.cookieField(p, day), "b=2; a=4"; got != want {
		t.Errorf("after deleting c: sent %q, want %q", got, want)
	}
	j.setCookies([]string{"s=5; Secure; Path=/"}, p, day)
	j.setCookies([]string{"s=6; Path=/"}, contextOf("http://h.example.com/"), day)
	if got, want := j.cookieField(p, day), "b=2; a=4; s=5"; got != want {
		t.Errorf("after a cookie set over http: sent %q, want %q", got, want)
	}
}

// TestCookieFileLimits checks that no cookie of a file is lost without an error,
// neither by other cookies of the file nor by those of a server.
func TestCookieFileLimits(t *testing.T) {
	if testing.Short() {
		t.Skip("reads large files")
	}
	file := func(n int) io.Reader {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, ".example.com\tTRUE\t/\tFALSE\t0\tname%d\tvalue\n", i)
		}
		return strings.NewReader(b.String())
	}
	j := NewJar()
	const read = maxStored - maxDomainCookies
	if err := j.Read(file(read), day); err != nil || len(j.cookies) != read {
		t.Fatalf("%d cookies, %v", len(j.cookies), err)
	}
	for i := range 2 * maxDomainCookies {
		j.setCookies([]string{fmt.Sprintf("learned%d=x; Domain=example.com", i)}, contextOf("http://h.example.com/"), day)
	}
	var text strings.Builder
	if err := j.Write(&text, day); err != nil {
		t.Fatal(err)
	}
	if n, learned := strings.Count(text.String(), "\tname"), strings.Count(text.String(), "\tlearned"); n != read || learned != maxDomainCookies {
		t.Errorf("%d cookies of the file and %d of the server are written", n, learned)
	}
	j.setCookies([]string{"other=x; Domain=example.org"}, contextOf("http://h.example.org/"), day)
	if err := j.Write(io.Discard, day); fetch.FaultOf(err) != fetch.Local {
		t.Errorf("more cookies are written than Read accepts: %v", err)
	}
	j = NewJar()
	if err := j.Read(file(maxStored), day); err != nil || len(j.cookies) != maxStored {
		t.Fatalf("%d cookies, %v", len(j.cookies), err)
	}
	j = NewJar()
	if err := j.Read(file(maxStored+1), day); fetch.FaultOf(err) != fetch.Local || len(j.cookies) != 0 {
		t.Errorf("%d cookies, %v", len(j.cookies), err)
	}
}

func TestJarLimits(t *testing.T) {
	if testing.Short() {
		t.Skip("stores thousands of cookies")
	}
	j := NewJar()
	for i := range 5000 {
		n := string(rune('a'+i%26)) + strings.Repeat("x", i/26)
		j.setCookies([]string{n[:min(len(n), 60)] + "=" + strings.Repeat("v", i%50)}, contextOf("http://h.example.com/"), day)
		j.setCookies([]string{"a=b"}, cookieContext{host: strings.Repeat("y", i%60+1) + ".h" + string(rune('a'+i/200)) + ".com", path: "/"}, day)
	}
	if len(j.cookies) > maxCookies {
		t.Errorf("%d cookies stored", len(j.cookies))
	}
	if got := j.cookieField(contextOf("http://h.example.com/"), day); len(got) > maxCookieField {
		t.Errorf("field of %d bytes", len(got))
	}
}

func TestCookieDate(t *testing.T) {
	want := time.Date(1994, 11, 6, 8, 49, 37, 0, time.UTC)
	for _, s := range []string{
		"Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
		"6 november 94 8:49:37", "08:49:37 1994 Nov 6th", "06-Nov-1994_08:49:37",
	} {
		if got, ok := parseCookieDate(s); !ok || !got.Equal(want) {
			t.Errorf("%q: got %v, %t", s, got, ok)
		}
	}
	for _, s := range []string{"", "soon", "06 Nov 1994", "08:49:37", "31 Feb 1994 08:49:37", "06 Nov 1994 25:00:00", "06 Nov 1500 08:49:37", "0 Nov 1994 08:49:37"} {
		if got, ok := parseCookieDate(s); ok {
			t.Errorf("%q: got %v", s, got)
		}
	}
}

func TestNetscape(t *testing.T) {
	const file = "# Netscape HTTP Cookie File\n\n" +
		".example.com\tTRUE\t/x\tTRUE\t1800000000\ta\tb=c\n" +
		"#HttpOnly_h.example.com\tFALSE\t/\tFALSE\t0\tb\t\n"
	const junk = "\n# comment\nshort\tline\n.com\tTRUE\t/\tFALSE\t0\tr\tx\nh\tFALSE\tx\tFALSE\t0\ta\tb\nh\tFALSE\t/\tFALSE\tsoon\ta\tb\n" +
		"old.example.com\tFALSE\t/\tFALSE\t1000\ta\tb\nh\tFALSE\t/\tFALSE\t0\ta;b\tc\nh\tFALSE\t/\tFALSE\t0\ta\tb\x01\n"
	j := NewJar()
	if err := j.Read(strings.NewReader(file+junk), day); err != nil {
		t.Fatal(err)
	}
	if got := j.cookieField(contextOf("https://a.example.com/x/"), day); got != "a=b=c" {
		t.Errorf("sent %q", got)
	}
	if got := j.cookieField(contextOf("https://other.com/"), day); got != "" {
		t.Errorf("cookie for the public suffix com: %q", got)
	}
	var b strings.Builder
	if err := j.Write(&b, day); err != nil {
		t.Fatal(err)
	}
	if got, want := b.String(), file+"com\tFALSE\t/\tFALSE\t0\tr\tx\n"; got != want {
		t.Errorf("wrote %q, want %q", got, want)
	}
	j.EndSession()
	if len(j.cookies) != 1 {
		t.Errorf("%d cookies after the session", len(j.cookies))
	}
	if err := j.Read(strings.NewReader(strings.Repeat("x", 1<<20)), day); err == nil {
		t.Error("line of 1 MiB accepted")
	}
}

// TestCookieFields checks that a cookie file may contain Set-Cookie header
// fields. A cookie without a Domain attribute has no server.
func TestCookieFields(t *testing.T) {
	const file = "HTTP/1.1 200 OK\r\nSet-Cookie: a=1; Domain=example.com; Path=/x\r\nset-cookie:b=2;domain=.h.example.com;secure\r\n" +
		"Set-Cookie: c=3\r\nSet-Cookie: d=4; domain=\r\nSet-Cookie: e=5; domain=com\r\nSet-Cookie: f=6; domain=example.com; max-age=0\r\n" +
		"Set-Cookie: g=\x01; domain=example.com\r\n\r\n.example.com\tTRUE\t/\tFALSE\t0\th\t7\n"
	j := NewJar()
	if err := j.Read(strings.NewReader(file), day); err != nil {
		t.Fatal(err)
	}
	for url, want := range map[string]string{
		"https://example.com/x/y": "a=1; h=7", "https://h.example.com/": "b=2; h=7", "http://h.example.com/": "h=7",
		"https://com/": "e=5", "https://other.com/": "",
	} {
		if got := j.cookieField(contextOf(url), day); got != want {
			t.Errorf("%s: sent %q, want %q", url, got, want)
		}
	}
}

func FuzzCookie(f *testing.F) {
	f.Add("a=b; Domain=example.com; Path=/; Secure; Expires=Sun, 06 Nov 1994 08:49:37 GMT; Max-Age=5", "a.example.com")
	f.Add("__Host-a=b\r\nX: y", "[::1]")
	f.Fuzz(func(t *testing.T, field, host string) {
		u, err := uri.Parse("https://" + host + "/")
		if err != nil {
			return
		}
		target, err := fetch.TargetOf(u, 443)
		if err != nil {
			return
		}
		p := cookieContext{host: target.Origin().Host, path: "/", secure: true}
		j, reread := NewJar(), NewJar()
		j.setCookies([]string{field}, p, day)
		sent := j.cookieField(p, day)
		if strings.ContainsAny(sent, "\r\n\x00") {
			t.Errorf("sent %q", sent)
		}
		var b strings.Builder
		if err := j.Write(&b, day); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(b.String(), "\n"); n > 3 {
			t.Errorf("wrote %q", b.String())
		}
		if err := reread.Read(strings.NewReader(b.String()), day); err != nil {
			t.Fatal(err)
		}
		if got := reread.cookieField(p, day); got != "" && got != sent {
			t.Errorf("sent %q, after a file %q", sent, got)
		}
	})
}

// TestZeroJar checks that a Jar without a list of public suffixes accepts cookies
// only for the host that sets them.
func TestZeroJar(t *testing.T) {
	var j Jar
	p := contextOf("http://a.example.com/")
	j.setCookies([]string{"a=1", "b=2; Domain=example.com", "c=3; Domain=a.example.com", "d=4; Domain=com"}, p, day)
	if got := j.cookieField(p, day); got != "a=1; c=3" {
		t.Errorf("got %q", got)
	}
	for _, other := range []string{"http://b.example.com/", "http://x.a.example.com/", "http://example.com/"} {
		if got := j.cookieField(contextOf(other), day); got != "" {
			t.Errorf("%s gets %q", other, got)
		}
	}
}

// TestCookieOfLongPath checks that a file with the cookies of any response can be
// read again.
func TestCookieOfLongPath(t *testing.T) {
	for _, c := range []struct {
		length int // of the path of the request, which is the path of the cookie
		kept   bool
	}{{maxAttribute, true}, {maxAttribute + 1, false}, {2 * maxCookieLine, false}} {
		j := NewJar()
		path := "/" + strings.Repeat("a", c.length-1)
		j.setCookies([]string{"a=" + strings.Repeat("b", maxCookie-1)}, contextOf("http://example.com"+path+"/x"), day)
		var text strings.Builder
		if err := j.Write(&text, day); err != nil {
			t.Fatal(err)
		}
		if kept := strings.Contains(text.String(), path); kept != c.kept {
			t.Errorf("path of %d bytes: kept %v", c.length, kept)
		}
		if err := NewJar().Read(strings.NewReader(text.String()), day); err != nil {
			t.Errorf("path of %d bytes: %v", c.length, err)
		}
	}
}
