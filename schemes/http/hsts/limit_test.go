package hsts_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/http/hsts"
	"github.com/anyurl/fetch/uri"
)

// fileOf returns a file with n hosts, the names of which start with name.
func fileOf(name string, n int) io.Reader {
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintf(&b, "%s%06d.test \"unlimited\"\n", name, i)
	}
	return &b
}

// learn passes a response of a verified server through the middleware of s.
func learn(t *testing.T, s *hsts.Store, host, field string) {
	t.Helper()
	d := s.Middleware(fetch.DriverFunc(func(context.Context, *fetch.Request) (*fetch.Response, error) {
		state := &tls.ConnectionState{VerifiedChains: [][]*x509.Certificate{{}}}
		return &fetch.Response{TLS: state, Header: fetch.Header{{Name: "Strict-Transport-Security", Value: field}}}, nil
	}))
	if _, err := d.Do(t.Context(), &fetch.Request{URL: uri.MustParse("https://" + host + "/")}); err != nil {
		t.Fatal(err)
	}
}

// TestFileLimits checks that no host of a file is dropped without an error.
func TestFileLimits(t *testing.T) {
	if testing.Short() {
		t.Skip("reads files of 500,000 hosts")
	}
	for _, c := range []struct {
		name string
		file io.Reader
		want string // part of the error, or "" if the file is read completely
	}{
		{"many hosts", fileOf("h", 30_000), ""},
		{"all hosts", fileOf("h", 500_000), ""},
		{"too many hosts", fileOf("h", 500_001), "500000 hosts"},
		{"all lines", io.MultiReader(strings.NewReader(strings.Repeat("#\n", 970_000)), fileOf("h", 30_000)), ""},
		{"too many lines", strings.NewReader(strings.Repeat("#\n", 1_000_001)), "1000000 lines"},
		{"another file", strings.NewReader("\n# Notes\nMy notes\n"), "line 3 is not in curl's format"},
	} {
		s := newStore()
		err := s.Read(c.file)
		if c.want != "" {
			if fetch.FaultOf(err) != fetch.Local || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: got %v, want %s", c.name, err, c.want)
			}
			continue
		}
		if u := s.Upgrade(uri.MustParse("http://h029999.test/")); err != nil || u.Scheme() != "https" {
			t.Errorf("%s: got %s, %v", c.name, u, err)
		}
	}
}

// TestLearnFull checks that a host is learned beside those of a file, and that
// Write returns an error if Read would not accept the result.
func TestLearnFull(t *testing.T) {
	if testing.Short() {
		t.Skip("reads files of 500,000 hosts")
	}
	s := newStore()
	if err := s.Read(fileOf("h", 499_999)); err != nil {
		t.Fatal(err)
	}
	learn(t, s, "a.test", "max-age=60")
	if n := strings.Count(written(t, s), "\n"); n != 500_000 {
		t.Errorf("%d hosts written", n)
	}
	learn(t, s, "b.test", "max-age=60")
	var b bytes.Buffer
	if err := s.Write(&b); fetch.FaultOf(err) != fetch.Local || b.Len() > 0 {
		t.Errorf("%d bytes written, %v", b.Len(), err)
	}
	if u := s.Upgrade(uri.MustParse("http://b.test/")); u.Scheme() != "https" {
		t.Errorf("got %s", u)
	}
	for i := range 10_100 {
		learn(t, s, fmt.Sprintf("l%06d.test", i), "max-age=60")
	}
	if u := s.Upgrade(uri.MustParse("http://l010099.test/")); u.Scheme() != "http" {
		t.Error("more than 10,000 hosts learned")
	}
}
