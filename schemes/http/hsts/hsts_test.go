package hsts_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/fetch"
	web "github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/schemes/http/hsts"
	"github.com/anyurl/fetch/uri"
)

var now = time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)

func newStore() *hsts.Store { return &hsts.Store{Now: func() time.Time { return now }} }

func TestUpgrade(t *testing.T) {
	s := newStore()
	err := s.Read(strings.NewReader(`# comment
known.test "20271126 00:00:00"
.below.test "20271126 00:00:00"
past.test "20251126 00:00:00"
always.test "unlimited"
192.0.2.1 "20271126 00:00:00"
broken.test 20271126
broken2.test "tomorrow"
"20271126 00:00:00"
. "20271126 00:00:00"
`))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, url, want string }{
		{"known", "http://known.test/a?b#c", "https://known.test/a?b#c"},
		{"login", "http://alice:pw@known.test/", "https://alice:pw@known.test/"},
		{"letter case", "http://KNOWN.test/", "https://KNOWN.test/"},
		{"final dot", "http://known.test./", "https://known.test./"},
		{"default port", "http://known.test:80/", "https://known.test/"},
		{"default port with zeros", "http://known.test:0080/", "https://known.test/"},
		{"other port", "http://known.test:8080/", "https://known.test:8080/"},
		{"https", "https://known.test/", "https://known.test/"},
		{"subdomain not included", "http://a.known.test/", "http://a.known.test/"},
		{"subdomain", "http://a.b.below.test/", "https://a.b.below.test/"},
		{"other name with the suffix", "http://xbelow.test/", "http://xbelow.test/"},
		{"expired", "http://past.test/", "http://past.test/"},
		{"unlimited", "http://always.test/", "https://always.test/"},
		{"address", "http://192.0.2.1/", "http://192.0.2.1/"},
		{"malformed line", "http://broken.test/", "http://broken.test/"},
		{"malformed time", "http://broken2.test/", "http://broken2.test/"},
		{"unknown", "http://unknown.test/", "http://unknown.test/"},
		{"WebDAV", "dav://known.test:80/a", "davs://known.test/a"},
		{"WebDAV with TLS", "davs://known.test/a", "davs://known.test/a"},
		{"other scheme", "ftp://known.test/", "ftp://known.test/"},
	} {
		u, err := uri.Parse(c.url)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Upgrade(u).Unredacted(); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

// TestPlan checks that a plan is that of the https URL.
func TestPlan(t *testing.T) {
	s := newStore()
	if err := s.Read(strings.NewReader(`known.test "unlimited"`)); err != nil {
		t.Fatal(err)
	}
	client := fetch.New(fetch.Options{Upgrade: s.Upgrade}, web.Schemes(web.Options{})...)
	defer client.Close()
	plan := func(text string) string {
		steps, err := client.Plan(&fetch.Request{URL: uri.MustParse(text)})
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(steps)
	}
	if got, want := plan("http://known.test:443/"), plan("https://known.test:443/"); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestDuplicates checks that a later line of a host does not weaken an earlier one,
// and that a second file replaces both.
func TestDuplicates(t *testing.T) {
	s := newStore()
	for _, c := range []struct{ name, file, want string }{
		{"subdomains later", "a.test. \"20391001 04:47:41\"\n.a.test. \"20291001 04:47:41\"\n", ".a.test \"20391001 04:47:41\"\n"},
		{"subdomains first", ".a.test \"20281001 04:47:41\"\na.test \"20291001 04:47:41\"\n", ".a.test \"20291001 04:47:41\"\n"},
		{"one line", "a.test \"20281001 04:47:41\"\n", "a.test \"20281001 04:47:41\"\n"},
		{"expired", ".a.test \"20251001 04:47:41\"\na.test \"20281001 04:47:41\"\n", "a.test \"20281001 04:47:41\"\n"},
		{"unlimited", "a.test \"unlimited\"\na.test \"20281001 04:47:41\"\n", "a.test \"unlimited\"\n"},
	} {
		if err := s.Read(strings.NewReader(c.file)); err != nil {
			t.Fatal(err)
		}
		if got := written(t, s); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// TestLearn checks which responses change the store.
func TestLearn(t *testing.T) {
	verified := &tls.ConnectionState{VerifiedChains: [][]*x509.Certificate{{}}}
	for _, c := range []struct {
		name, url, field, want string
		tls                    *tls.ConnectionState
	}{
		{"host", "https://a.test/", "max-age=60", "a.test \"20261126 12:01:00\"\n", verified},
		{"spaces", "https://a.test/", "max-age  = 60 ; ", "a.test \"20261126 12:01:00\"\n", verified},
		{"quotation mark missing", "https://a.test/", "max-age=\"60", "", verified},
		{"subdomains twice", "https://a.test/", "max-age=60; includeSubDomains; includeSubDomains", "", verified},
		{"similar directive", "https://a.test/", "max=60", "", verified},
		{"subdomains", "https://A.test./", "Max-Age=\"60\" ; includeSubDomains", ".a.test \"20261126 12:01:00\"\n", verified},
		{"unknown directive", "https://a.test/", "preload; max-age=60;;x=y", "a.test \"20261126 12:01:00\"\n", verified},
		{"very long", "https://a.test/", "max-age=99999999999999999999999", "a.test \"20361123 12:00:00\"\n", verified},
		{"removal", "https://old.test/", "max-age=0", "", verified},
		{"not verified", "https://a.test/", "max-age=60", "", &tls.ConnectionState{}},
		{"plaintext", "http://a.test/", "max-age=60", "", nil},
		{"address", "https://192.0.2.1/", "max-age=60", "", verified},
		{"address of IPv6", "https://[2001:db8::1]/", "max-age=60", "", verified},
		{"no age", "https://a.test/", "includeSubDomains", "", verified},
		{"negative age", "https://a.test/", "max-age=-1", "", verified},
		{"age twice", "https://a.test/", "max-age=60; max-age=70", "", verified},
	} {
		s := newStore()
		if c.name == "removal" {
			if err := s.Read(strings.NewReader("old.test \"20271126 00:00:00\"\n")); err != nil {
				t.Fatal(err)
			}
		}
		d := s.Middleware(fetch.DriverFunc(func(context.Context, *fetch.Request) (*fetch.Response, error) {
			h := fetch.Header{{Name: "strict-transport-security", Value: c.field}, {Name: "Strict-Transport-Security", Value: "max-age=1"}}
			return &fetch.Response{TLS: c.tls, Header: h}, nil
		}))
		u, err := uri.Parse(c.url)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := d.Do(t.Context(), &fetch.Request{URL: u}); err != nil {
			t.Fatal(err)
		}
		if got := written(t, s); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
		if changed := c.want != "" || c.name == "removal"; s.Changed() != changed {
			t.Errorf("%s: changed %v", c.name, s.Changed())
		}
	}
}

// TestReadAgain checks that hosts which another command has removed from the file
// or changed are not restored.
func TestReadAgain(t *testing.T) {
	s := newStore()
	if err := s.Read(strings.NewReader("changed.test \"20281126 00:00:00\"\nremoved.test \"20281126 00:00:00\"\n")); err != nil {
		t.Fatal(err)
	}
	d := s.Middleware(fetch.DriverFunc(func(context.Context, *fetch.Request) (*fetch.Response, error) {
		h := fetch.Header{{Name: "Strict-Transport-Security", Value: "max-age=60"}}
		return &fetch.Response{TLS: &tls.ConnectionState{VerifiedChains: [][]*x509.Certificate{{}}}, Header: h}, nil
	}))
	if _, err := d.Do(t.Context(), &fetch.Request{URL: uri.MustParse("https://a.test/")}); err != nil {
		t.Fatal(err)
	}
	if err := s.Read(strings.NewReader("changed.test \"20271126 00:00:00\"\na.test \"20271126 00:00:00\"\n")); err != nil {
		t.Fatal(err)
	}
	if got, want := written(t, s), "a.test \"20261126 12:01:00\"\nchanged.test \"20271126 00:00:00\"\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// written returns the lines of the file that s writes, without the comment.
func written(t *testing.T, s *hsts.Store) string {
	t.Helper()
	var b bytes.Buffer
	if err := s.Write(&b); err != nil {
		t.Fatal(err)
	}
	_, lines, _ := strings.Cut(b.String(), "\n")
	return lines
}

// FuzzRead checks that a file that Write has written is read unchanged.
func FuzzRead(f *testing.F) {
	f.Add("a.test \"20271126 00:00:00\"\n.b.test \"unlimited\"\n")
	f.Add("\x00 \"\n# x\n")
	f.Fuzz(func(t *testing.T, text string) {
		s, again := newStore(), newStore()
		if s.Read(strings.NewReader(text)) != nil {
			return
		}
		want := written(t, s)
		if err := again.Read(strings.NewReader(want)); err != nil || written(t, again) != want {
			t.Errorf("got %q, %v, want %q", written(t, again), err, want)
		}
	})
}
