package altsvc_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/http/altsvc"
	"github.com/anyurl/fetch/uri"
)

var now = time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)

func newStore() *altsvc.Store { return &altsvc.Store{Now: func() time.Time { return now }} }

// TestLearn checks the values of Alt-Svc fields that a verified server sends.
func TestLearn(t *testing.T) {
	for _, c := range []struct{ name, url, field, want string }{
		{"same host", "https://a.test/", `h3=":443"`, `h2 a.test 443 h3 a.test 443 "20261127 12:00:00" 0 0`},
		{"port of the URL", "https://A.test.:8443/", `h3=":444"; ma=60`, `h2 a.test 8443 h3 a.test 444 "20261126 12:01:00" 0 0`},
		{"other host", "https://a.test/", `h3="B.test:443"; ma=60; persist=1`, `h2 a.test 443 h3 b.test 443 "20261126 12:01:00" 1 0`},
		{"IPv6 address", "https://a.test/", `h3="[2001:db8::1]:443"; ma=60`, `h2 a.test 443 h3 [2001:db8::1] 443 "20261126 12:01:00" 0 0`},
		{"several protocols", "https://a.test/", `h2=":443", h3-29=":443"; ma=1, h3=":444"; ma=60`, `h2 a.test 443 h3 a.test 444 "20261126 12:01:00" 0 0`},
		{"quoted comma", "https://a.test/", `h2="x,y:1", h3=":444"; ma=60; v="a;b,c"`, ``},
		{"cleared", "https://a.test/", `clear`, ``},
		{"spaces around the equals sign", "https://a.test/", `h3=":444"; persist = "1" ; ma = 60;`, `h2 a.test 443 h3 a.test 444 "20261126 12:01:00" 1 0`},
		{"age with a space", "https://a.test/", `h3=":444"; ma="60 "`, ``},
		{"unknown protocol", "https://a.test/", `h6="a.test:443"; ma="180";`, ``},
		{"no final quotation mark", "https://a.test/", `h3="a.test:443,; ma="180";`, ``},
		{"negative port", "https://a.test/", `h3="b.test:-18446744073709551614"`, ``},
		{"port too large", "https://a.test/", `h3="b.test:70000"`, ``},
		{"no age", "https://a.test/", `h3=":443"; ma=0`, ``},
		{"negative age", "https://a.test/", `h3=":443"; ma=-1`, ``},
		{"very negative age", "https://a.test/", `h3=":443"; ma=-9223372037`, ``},
		{"most negative age", "https://a.test/", `h3=":443"; ma=-99999999999999999999`, ``},
		{"very long age", "https://a.test/", `h3=":443"; ma=99999999999999999999`, `h2 a.test 443 h3 a.test 443 "20271126 12:00:00" 0 0`},
		{"no quotes", "https://a.test/", `h3=:443`, ``},
		{"no port", "https://a.test/", `h3="b.test"`, ``},
		{"port 0", "https://a.test/", `h3=":0"`, ``},
		{"port with a sign", "https://a.test/", `h3=":+443"`, ``},
		{"invalid host", "https://a.test/", `h3="b test:443"`, ``},
		{"user", "https://a.test/", `h3="a.test@b.test:443"`, ``},
		{"path", "https://a.test/", `h3="b.test/:443"`, ``},
		{"query", "https://a.test/", `h3="b.test?:443"`, ``},
		{"fragment", "https://a.test/", `h3="b.test#:443"`, ``},
		{"host with a number", "https://a.test/", `h3="0x7f.1:443"`, ``},
		{"zone", "https://a.test/", `h3="[fe80::1%25eth0]:443"`, ``},
		{"very long", "https://a.test/", `h3=":443"; x=` + strings.Repeat("y", 9000), ``},
		{"only commas", "https://a.test/", `,,,`, ``},
	} {
		s := newStore()
		if got := written(t, learn(t, s, c.url, c.field, true)); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
	for _, field := range []string{"clear", "clear;", " clear "} {
		s := learn(t, newStore(), "https://a.test/", `h3=":443"`, true)
		if got := written(t, learn(t, s, "https://a.test/", field, true)); got != "" {
			t.Errorf("%q: got %q", field, got)
		}
	}
	if got := written(t, learn(t, newStore(), "https://a.test/", `h3=":443"`, false)); got != "" {
		t.Errorf("not verified: got %q", got)
	}
	if got := written(t, learn(t, newStore(), "http://a.test/", `h3=":443"`, true)); got != "" {
		t.Errorf("plaintext: got %q", got)
	}
}

// learn passes a response with the field through the middleware of s.
func learn(t *testing.T, s *altsvc.Store, url, field string, verified bool) *altsvc.Store {
	t.Helper()
	state := &tls.ConnectionState{}
	if verified {
		state.VerifiedChains = [][]*x509.Certificate{{}}
	}
	d := s.Middleware(fetch.DriverFunc(func(context.Context, *fetch.Request) (*fetch.Response, error) {
		return &fetch.Response{TLS: state, Header: fetch.Header{{Name: "alt-svc", Value: field}}}, nil
	}))
	u, err := uri.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Do(t.Context(), &fetch.Request{URL: u}); err != nil {
		t.Fatal(err)
	}
	return s
}

// written returns the lines of the file that s writes, without the comment.
func written(t *testing.T, s *altsvc.Store) string {
	t.Helper()
	var b bytes.Buffer
	if err := s.Write(&b); err != nil {
		t.Fatal(err)
	}
	_, lines, _ := strings.Cut(b.String(), "\n")
	return strings.TrimSuffix(lines, "\n")
}

func TestFile(t *testing.T) {
	s := newStore()
	err := s.Read(strings.NewReader(`# comment
h2 a.test 443 h3 b.test 444 "20271126 00:00:00" 0 0
h2 a.test 443 h3 b.test 444 "20281126 00:00:00" 0 0
h1 c.test 443 h3 [::1] 444 "20271126 00:00:00" 1 0
h2 a.test 443 h2 b.test 445 "20271126 00:00:00" 0 0
h2 d.test 443 h3 d.test 444 "20251126 00:00:00" 0 0
h2 e.test 443 h3 e.test 70000 "20271126 00:00:00" 0 0
h2 e.test 443 h3 e.test
h2 e.test x h3 e.test 1 "20271126 00:00:00" 0 0
h2 e.test 443 h3 e.test 1 "tomorrow" 0 0
h2 e.test 443 h3 e.test 1 "20290222 22:19:028" 0 0
  h3 f.test. 443 h3 f.test 1 "20271126 00:00:00" 0 0
`))
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Lookup("A.TEST.", 443); len(got) != 1 || got[0].Address() != "b.test:444" {
		t.Errorf("a.test: got %v", got)
	}
	if got := s.Lookup("c.test", 443); len(got) != 1 || got[0].Address() != "[::1]:444" {
		t.Errorf("c.test: got %v", got)
	}
	if got := s.Lookup("f.test", 443); len(got) != 1 || got[0].Address() != "f.test:1" {
		t.Errorf("f.test: got %v", got)
	}
	for _, host := range []string{"d.test", "e.test"} {
		if got := s.Lookup(host, 443); got != nil {
			t.Errorf("%s: got %v", host, got)
		}
	}
	if s.Changed() {
		t.Error("reading changed the store")
	}
	if err := s.Read(strings.NewReader(strings.Repeat("x", 10_000))); fetch.FaultOf(err) != fetch.Local {
		t.Errorf("long line: got %v", err)
	}
}

// TestOtherProtocols checks that the services of curl for other protocols are not
// lost, until the server of their origin sends a new list.
func TestOtherProtocols(t *testing.T) {
	const file = `h1 a.test 443 h2 a.test 445 "20271126 00:00:00" 0 0
h2 b.test 443 h1 c.test 444 "20271126 00:00:00" 1 0
h2 b.test 443 h2 c.test 444 "20271126 00:00:00" 0 0
h2 b.test 443 h3 c.test 444 "20271126 00:00:00" 0 0`
	for _, c := range []struct{ name, learned, want string }{
		{"unchanged", "https://d.test/", file},
		{"new list", "https://b.test/", `h1 a.test 443 h2 a.test 445 "20271126 00:00:00" 0 0`},
	} {
		s := newStore()
		for range 2 { // the second time with the lock of the file
			if err := s.Read(strings.NewReader(file)); err != nil {
				t.Fatal(err)
			}
			learn(t, s, c.learned, "clear", true)
		}
		if got := written(t, s); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
		if got := s.Lookup("a.test", 443); got != nil {
			t.Errorf("%s: HTTP/3 at %v", c.name, got)
		}
	}
}

// TestReadAgain checks that services which another command has removed from the file
// or changed are not restored.
func TestReadAgain(t *testing.T) {
	s := newStore()
	read := func(file string) {
		if err := s.Read(strings.NewReader(file)); err != nil {
			t.Fatal(err)
		}
	}
	read("h2 a.test 443 h3 a.test 1443 \"20271126 00:00:00\" 0 0\nh2 b.test 443 h3 b.test 1443 \"20271126 00:00:00\" 0 0\n")
	learn(t, s, "https://c.test/", `h3=":2443"; ma=60`, true)
	const changed = "h2 b.test 443 h3 b.test 3443 \"20271126 00:00:00\" 0 0\n"
	read(changed)
	if got, want := written(t, s), strings.TrimSpace(changed)+"\nh2 c.test 443 h3 c.test 2443 \"20261126 12:01:00\" 0 0"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// FuzzRead checks that a file that Write has written is read unchanged.
func FuzzRead(f *testing.F) {
	f.Add("h2 a.test 443 h3 [::1] 444 \"20271126 00:00:00\" 0 0\n", `h3=":443"; ma=60`)
	f.Fuzz(func(t *testing.T, text, field string) {
		s, again := newStore(), newStore()
		if s.Read(strings.NewReader(text)) != nil {
			return
		}
		learn(t, s, "https://a.test/", field, true)
		want := written(t, s)
		if err := again.Read(strings.NewReader(want)); err != nil || written(t, again) != want {
			t.Errorf("got %q, %v, want %q", written(t, again), err, want)
		}
	})
}
