package uri_test

import (
	"bufio"
	"encoding/json"
	"net/netip"
	"net/url"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/uri"
)

// FuzzCurlURL compares the components of a URI with an authority with those that
// the parser of curl finds. URLs that one of them rejects are not compared, nor
// the numbers that curl accepts as IPv4 addresses.
func FuzzCurlURL(f *testing.F) {
	peer.Need(f, "curl", "curl")
	parse := startCurl(f, peer.Need(f, "python3", "python3"))
	f.Add("http://user:pw@host.example:80/a%2Fb;c/d?q=1&r#frag")
	f.Add("ftp://a@b:c@host.example/../x")
	f.Add("HTTPS://[::1]:8443?x/y#z?")
	f.Add("gopher://host.example/1a%09b")
	f.Add("http://a%41.example/%zz")
	f.Fuzz(func(t *testing.T, text string) {
		u, err := uri.Parse(text)
		if err != nil || u.Host() == "" || strings.ContainsFunc(text, func(r rune) bool { return r >= 0x7f }) {
			return
		}
		if host, err := url.PathUnescape(u.Host()); err == nil && strings.ContainsFunc(host, func(r rune) bool { return r >= 0x7f }) {
			return // python3 decodes the host as Latin-1
		}
		switch u.Scheme() {
		case "", "file", "imap", "imaps", "pop3", "pop3s", "smtp", "smtps": // curl finds login options in some of them
			return
		}
		if c := parse(t, text); c != nil {
			compareCurl(t, text, u, c)
		}
	})
}

// compareCurl compares the components of u with those that curl found.
func compareCurl(t *testing.T, text string, u uri.URI, c map[string]string) {
	t.Helper()
	user, password, _ := u.User()
	query, _ := u.Query()
	fragment, _ := u.Fragment()
	host, err := url.PathUnescape(u.Host())
	if err != nil {
		host = u.Host()
	}
	path := u.Path()
	if path == "" {
		path = "/"
	}
	for _, part := range []struct{ name, got string }{
		{"scheme", u.Scheme()}, {"user", user}, {"password", password}, {"path", path}, {"query", query}, {"fragment", fragment},
	} {
		if part.got != c[part.name] {
			t.Errorf("%q: the %s is %q, according to curl %q", text, part.name, part.got, c[part.name])
		}
	}
	if !isSameHost(host, c["host"]) {
		t.Errorf("%q: the host is %q, according to curl %q", text, host, c["host"])
	}
	got, _ := u.Port()
	if n, err := strconv.Atoi(got); got != "" && (err != nil || strconv.Itoa(n) != c["port"]) || got == "" && c["port"] != "" {
		t.Errorf("%q: the port is %q, according to curl %q", text, got, c["port"])
	}
}

// isSameHost reports whether two hosts are equal. curl converts numbers to the
// usual form of an IPv4 address.
func isSameHost(ours, curl string) bool {
	a, err := netip.ParseAddr(strings.Trim(ours, "[]"))
	b, err2 := netip.ParseAddr(strings.Trim(curl, "[]"))
	if err2 == nil && b.Is4() && err != nil {
		return true
	}
	return strings.EqualFold(ours, curl) || err == nil && err2 == nil && a == b
}

// startCurl starts a program that parses URLs with libcurl. The result returns the
// components of a URL, or nil if libcurl rejects it.
func startCurl(f *testing.F, python string) func(t *testing.T, text string) map[string]string {
	c := exec.Command(python, "testdata/libcurl.py")
	in, err := c.StdinPipe()
	if err != nil {
		f.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() {
		in.Close()
		c.Wait()
	})
	question, answers := json.NewEncoder(in), bufio.NewReader(out)
	return func(t *testing.T, text string) (found map[string]string) {
		t.Helper()
		if err := question.Encode(text); err != nil {
			t.Fatal(err)
		}
		line, err := answers.ReadBytes('\n')
		if err == nil {
			err = json.Unmarshal(line, &found)
		}
		if err != nil {
			t.Fatalf("libcurl: %v", err)
		}
		return found
	}
}
