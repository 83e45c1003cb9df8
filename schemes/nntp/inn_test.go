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
