package nntp_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/fetchtest"
	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/schemes/nntp"
	"github.com/anyurl/fetch/uri"
)

// articleText returns an article from another server, which INN stores
// unchanged.
func articleText(n int, body string) string {
	return fmt.Sprintf("Path: elsewhere.example.org!not-for-mail\r\nFrom: Alice <alice@example.org>\r\n"+
		"Newsgroups: local.test\r\n"+
		"Subject: number %d\r\nDate: Mon, 01 Jan 2024 00:00:00 +0000\r\nMessage-ID: <%d@example.org>\r\n\r\n%s", n, n, body)
}

// storedText returns the article text in the form that INN sends it, with the
// name of the server in Path and with an Xref field.
func storedText(n int, text string) string {
	text = strings.Replace(text, "Path: ", "Path: news.example.org!", 1)
	return strings.Replace(text, "\r\n\r\n", fmt.Sprintf("\r\nXref: news.example.org local.test:%d\r\n\r\n", n), 1)
}

func newClient(t testing.TB, o nntp.Options, change ...func(*fetch.Options)) *fetch.Client {
	return schemetest.NewClient(t, nntp.Schemes(o), change...)
}

func TestINN(t *testing.T) {
	t.Parallel()
	s := peer.INN(t, peer.INNOptions{Groups: []string{"local.test", "local.empty", "other.group"}, TLS: true})
	big := articleText(3, strings.Repeat("a line that is neither long nor short, but one of many\r\n", 2000))
	for _, text := range []string{
		articleText(1, ".\r\n..two dots\r\n.dot\r\nlast line\r\n"), articleText(2, "\r\n"), big,
	} {
		s.Feed(text)
	}
	trust := fetch.Options{TLS: &tls.Config{RootCAs: s.Cert.Pool}}
	for name, suite := range map[string]fetchtest.Suite{
		"news": {
			Document: "news://" + s.Addr + "/3@example.org",
			Menu:     "news://" + s.Addr + "/local.test",
			Missing:  "news://" + s.Addr + "/none@example.org",
		},
		"nntp": {
			Document: "nntp://" + s.Addr + "/local.test/3",
			Menu:     "nntp://" + s.Addr + "/local.test",
			Missing:  "nntp://" + s.Addr + "/local.test/9",
		},
		"nntps": {
			Document: "nntps://" + s.TLSAddr + "/local.test/3",
			Menu:     "nntps://" + s.TLSAddr + "/local.test",
			Missing:  "nntps://" + s.TLSAddr + "/no.group",
		},
	} {
		suite.Schemes = func() []fetch.Scheme { return nntp.Schemes(nntp.Options{}) }
		suite.Options, suite.Body, suite.NoRanges = trust, []byte(storedText(3, big)), true
		suite.Names = []string{"number 1", "number 2", "number 3"}
		suite.Rejected = []string{
			"news:a%0d%0aQUIT@b", "news:a%20b@c", "news:group%0aQUIT", "news:%3E@a", "nntp://" + s.Addr + "/g/1%0d",
			"nntp://" + s.Addr + "/g/2-1",
			"nntp://" + s.Addr + "/g/x", "nntp://127.0.0.1:25/g/1", "news:" + strings.Repeat("x", 250) + "@y", "news:%00",
		}
		t.Run(name, func(t *testing.T) { fetchtest.Run(t, suite) })
	}
	t.Run("article", func(t *testing.T) { checkINNArticle(t, newClient(t, nntp.Options{Server: s.Addr})) })
	t.Run("tls", func(t *testing.T) {
		for _, o := range []nntp.Options{{Server: s.Addr, TLS: scheme.TLSRequired}, {Server: "snews://" + s.TLSAddr + "/"}} {
			c := newClient(t, o, func(f *fetch.Options) { f.TLS = trust.TLS })
			if resp, got, err := schemetest.Read(t, c, "nntp:local.test/2"); err != nil ||
				got != storedText(2, articleText(2, "\r\n")) || resp.TLS == nil {
				t.Errorf("%+v: got %q, %v", o, got, err)
			}
			c = newClient(t, o)
			if _, _, err := schemetest.Read(t, c, "nntp:local.test/2"); !errors.Is(err, fetch.TLS) {
				t.Errorf("%+v: untrusted certificate: got %v", o, err)
			}
		}
	})
}

func checkINNArticle(t *testing.T, c *fetch.Client) {
	want := storedText(1, articleText(1, ".\r\n..two dots\r\n.dot\r\nlast line\r\n"))
	resp, got, err := schemetest.Read(t, c, "nntp:local.test/1")
	if err != nil || got != want || resp.Media != "message/rfc822" || resp.Time.IsZero() ||
		resp.Header.Get("subject") != "number 1" {
		t.Errorf("got %q, %v, %+v, want %q", got, err, resp, want)
	}
}

// TestINNLogin tests logins over TLS at a server that allows no anonymous
// reading.
func TestINNLogin(t *testing.T) {
	t.Parallel()
	s := peer.INN(t, peer.INNOptions{Login: true, TLS: true})
	s.Feed(articleText(1, "secret\r\n"))
	trust := func(o *fetch.Options) { o.TLS = &tls.Config{RootCAs: s.Cert.Pool} }
	prompts := 0
	login := func(o *fetch.Options) {
		o.Login = func(_ context.Context, ch fetch.Challenge) (*fetch.Credential, error) {
			prompts++
			return &fetch.Credential{User: peer.User, Password: peer.Password}, nil
		}
	}
	url := "nntp://" + s.Addr + "/local.test/1"
	withPassword := "nntp://" + peer.User + ":" + peer.Password + "@" + s.Addr + "/local.test/1"
	wrongPassword := "nntp://" + peer.User + ":wrong@" + s.Addr + "/local.test/1"
	want := storedText(1, articleText(1, "secret\r\n"))
	c := newClient(t, nntp.Options{}, trust, login)
	for range 2 { // the second request reuses the authenticated session
		if resp, got, err := schemetest.Read(t, c, url); err != nil || got != want || resp.TLS == nil {
			t.Errorf("login from the prompt: got %q, %v", got, err)
		}
	}
	if prompts != 1 {
		t.Errorf("prompted %d times, want once", prompts)
	}
	c = newClient(t, nntp.Options{}, trust)
	if _, got, err := schemetest.Read(t, c, withPassword); err != nil || got != want {
		t.Errorf("login in the URL: got %q, %v", got, err)
	}
	for _, u := range []string{url, wrongPassword} {
		if _, got, err := schemetest.Read(t, c, u); !errors.Is(err, fetch.Auth) {
			t.Errorf("%s: got %q, %v", u, got, err)
		}
	}
	if _, got, err := schemetest.Read(t, newClient(t, nntp.Options{}), withPassword); !errors.Is(err, fetch.TLS) {
		t.Errorf("password with an untrusted certificate: got %q, %v", got, err)
	}
}

func TestINNListings(t *testing.T) {
	t.Parallel()
	s := peer.INN(t, peer.INNOptions{Groups: []string{"local.test", "local.empty", "other.group"}})
	batch := ""
	for n := range 150 {
		text := articleText(n+1, fmt.Sprintf("body %d\r\n", n+1))
		s.Feed(text)
		text = storedText(n+1, text)
		batch += fmt.Sprintf("#! rnews %d\n%s", len(text), text)
	}
	for _, o := range []nntp.Options{
		{Server: s.Addr}, {Server: s.Addr, Compress: nntp.CompressAlways}, {Server: s.Addr, Compress: nntp.CompressNever},
	} {
		c := newClient(t, o)
		if resp, got, err := schemetest.Read(t, c, "nntp:local.test/1-"); err != nil || got != batch ||
			resp.Media != "application/x-rnews" {
			t.Errorf("range: got %d bytes, %v, want %d", len(got), err, len(batch))
		}
		if got, err := schemetest.List(t, c, "news:local.test"); err != nil || len(got) != 150 {
			t.Errorf("group: got %d entries, %v", len(got), err)
		} else if e := got[6]; e.URL.String() != "news:7@example.org" || e.Name != "number 7" || e.Time.IsZero() ||
			e.Size < 100 || e.Extra["xref"] != "news.example.org local.test:7" {
			t.Errorf("entry: %+v", e)
		}
		if got, err := schemetest.List(t, c, "nntp:local.empty"); err != nil || len(got) != 0 {
			t.Errorf("empty group: got %v, %v", got, err)
		}
		got, err := schemetest.List(t, c, "nntp://"+s.Addr+"/local.*,!*.empty")
		if err != nil || len(got) != 1 || got[0].Name != "local.test" ||
			got[0].URL.String() != "nntp://"+s.Addr+"/local.test" || got[0].Extra["high"] != "150" {
			t.Errorf("groups: got %v, %v", got, err)
		}
	}
}

// TestINNViews tests the views and options that use other commands.
func TestINNViews(t *testing.T) {
	t.Parallel()
	s := peer.INN(t, peer.INNOptions{})
	text := articleText(1, "body\r\n")
	s.Feed(text)
	head, _, _ := strings.Cut(storedText(1, text), "\r\n\r\n")
	overview := fmt.Sprintf(
		"1\tnumber 1\tAlice <alice@example.org>\tMon, 01 Jan 2024 00:00:00 +0000\t"+
			"<1@example.org>\t\t%d\t1\tXref: news.example.org local.test:1\r\n",
		len(storedText(1, text)),
	)
	for _, c := range []struct {
		o         nntp.Options
		url, want string
	}{
		{nntp.Options{View: nntp.Head}, "nntp:local.test/1", head + "\r\n"},
		{nntp.Options{View: nntp.Head}, "news:1@example.org", head + "\r\n"},
		{nntp.Options{View: nntp.Body}, "nntp:local.test/1", "body\r\n"},
		{nntp.Options{View: nntp.Overview}, "nntp:local.test/1", overview},
		{nntp.Options{View: nntp.Overview}, "nntp:local.test/1-9", overview},
		{
			nntp.Options{View: nntp.Articles}, "nntp:local.test",
			fmt.Sprintf("#! rnews %d\n%s", len(storedText(1, text)), storedText(1, text)),
		},
		{nntp.Options{Field: "Subject"}, "nntp:local.test", "1 number 1\r\n"},
		{nntp.Options{Field: ":lines"}, "nntp:local.test", "1 1\r\n"},
		{nntp.Options{Describe: true}, "news:local.*", "local.test\tA group of this test\r\n"},
		{
			nntp.Options{}, "news:",
			"control 0000000000 0000000001 n\r\ncontrol.cancel 0000000000 0000000001 n\r\n" +
				"junk 0000000000 0000000001 n\r\nlocal.test 0000000001 0000000001 y\r\n",
		},
	} {
		c.o.Server = s.Addr
		if _, got, err := schemetest.Read(t, newClient(t, c.o), c.url); err != nil || got != c.want {
			t.Errorf("%s %+v: got %q, %v, want %q", c.url, c.o, got, err, c.want)
		}
	}
	for since, want := range map[time.Time]string{
		time.Unix(1e9, 0): "<1@example.org>\r\n", time.Now().Add(24 * time.Hour): "",
	} {
		req := &fetch.Request{URL: uri.MustParse("nntp:local.test"), Since: since}
		if _, got, err := schemetest.ReadRequest(
			t, newClient(t, nntp.Options{Server: s.Addr}), req,
		); err != nil || got != want {
			t.Errorf("since %v: got %q, %v, want %q", since, got, err, want)
		}
	}
	marks := new(nntp.Marks)
	for _, want := range []int{1, 0} {
		if got, err := schemetest.List(
			t, newClient(t, nntp.Options{Server: s.Addr, Marks: marks}), "news:local.test",
		); err != nil || len(got) != want {
			t.Errorf("after the mark: got %d entries, %v, want %d", len(got), err, want)
		}
	}
}
