package nntp_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/peer"
	"github.com/anyurl/fetch/schemes/nntp"
	"github.com/anyurl/fetch/uri"
)

// article is one that INN takes from another server and keeps as it is.
func article(n int, body string) string {
	return fmt.Sprintf("Path: elsewhere.example.org!not-for-mail\r\nFrom: Alice <alice@example.org>\r\nNewsgroups: local.test\r\n"+
		"Subject: number %d\r\nDate: Mon, 01 Jan 2024 00:00:00 +0000\r\nMessage-ID: <%d@example.org>\r\n\r\n%s", n, n, body)
}

// stored is the article as INN gives it out: with its name in Path and an Xref.
func stored(n int, text string) string {
	text = strings.Replace(text, "Path: ", "Path: news.example.org!", 1)
	return strings.Replace(text, "\r\n\r\n", fmt.Sprintf("\r\nXref: news.example.org local.test:%d\r\n\r\n", n), 1)
}

func client(t testing.TB, o nntp.Options, change ...func(*fetch.Options)) *fetch.Client {
	opts := fetch.Options{Policy: fetch.Typed()}
	for _, f := range change {
		f(&opts)
	}
	c := fetch.New(opts, nntp.Schemes(o)...)
	t.Cleanup(func() { c.Close() })
	return c
}

func read(t testing.TB, c *fetch.Client, url string) (*fetch.Response, string, error) {
	t.Helper()
	return do(t, c, &fetch.Request{URL: uri.MustParse(url)})
}

func do(t testing.TB, c *fetch.Client, req *fetch.Request) (*fetch.Response, string, error) {
	t.Helper()
	resp, err := c.Do(t.Context(), req)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return resp, string(body), err
}

func TestINN(t *testing.T) {
	t.Parallel()
	s := peer.INN(t, peer.INNOptions{})
	one := article(1, ".\r\n..two dots\r\n.dot\r\nlast line\r\n")
	s.Feed(one)
	c := client(t, nntp.Options{Server: s.Addr})
	for _, url := range []string{
		"news:1@example.org",
		"nntp:local.test/1",
		"news://" + s.Addr + "/1@example.org",
		"nntp://" + s.Addr + "/local.test/1",
	} {
		resp, got, err := read(t, c, url)
		if err != nil || got != stored(1, one) {
			t.Errorf("%s: got %q, %v, want %q", url, got, err, stored(1, one))
			continue
		}
		if resp.Media != "message/rfc822" || resp.Time.IsZero() || resp.Header.Get("subject") != "number 1" {
			t.Errorf("%s: %+v", url, resp)
		}
	}
	for _, url := range []string{"news:none@example.org", "nntp:local.test/2", "nntp:no.such.group/1"} {
		if _, got, err := read(t, c, url); !errors.Is(err, fetch.NotFound) {
			t.Errorf("%s: got %q, %v, want NotFound", url, got, err)
		}
	}
}

func TestINNListings(t *testing.T) {
	t.Parallel()
	s := peer.INN(t, peer.INNOptions{Groups: []string{"local.test", "local.empty", "other.group"}})
	batch := ""
	for n := range 150 {
		text := article(n+1, fmt.Sprintf("body %d\r\n", n+1))
		s.Feed(text)
		text = stored(n+1, text)
		batch += fmt.Sprintf("#! rnews %d\n%s", len(text), text)
	}
	for _, o := range []nntp.Options{{Server: s.Addr}, {Server: s.Addr, Compress: nntp.CompressAlways}, {Server: s.Addr, Compress: nntp.CompressNever}} {
		c := client(t, o)
		if resp, got, err := read(t, c, "nntp:local.test/1-"); err != nil || got != batch || resp.Media != "application/x-rnews" {
			t.Errorf("range: got %d bytes, %v, want %d", len(got), err, len(batch))
		}
		if got, err := list(t, c, "news:local.test"); err != nil || len(got) != 150 {
			t.Errorf("group: got %d entries, %v", len(got), err)
		} else if e := got[6]; e.URL.String() != "news:7@example.org" || e.Name != "number 7" || e.Time.IsZero() || e.Size < 100 || e.Extra["xref"] != "news.example.org local.test:7" {
			t.Errorf("entry: %+v", e)
		}
		if got, err := list(t, c, "nntp:local.empty"); err != nil || len(got) != 0 {
			t.Errorf("empty group: got %v, %v", got, err)
		}
		got, err := list(t, c, "nntp://"+s.Addr+"/local.*,!*.empty")
		if err != nil || len(got) != 1 || got[0].Name != "local.test" || got[0].URL.String() != "nntp://"+s.Addr+"/local.test" || got[0].Extra["high"] != "150" {
			t.Errorf("groups: got %v, %v", got, err)
		}
	}
}

func list(t testing.TB, c *fetch.Client, url string) (all []fetch.Entry, err error) {
	t.Helper()
	resp, err := c.Get(t.Context(), url)
	if err != nil {
		return nil, err
	}
	for e, err := range resp.Entries() {
		if err != nil {
			return all, err
		}
		all = append(all, e)
	}
	return all, nil
}
