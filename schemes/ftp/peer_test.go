package ftp_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/peer"
	"github.com/anyurl/fetch/schemes/ftp"
)

// servers are those that every test of this file runs against, and what makes
// them do what FTP asks of every server.
var servers = map[string]struct {
	start  func(peer.TB, peer.FTPOptions) *peer.Server
	config []string
}{
	"vsftpd":    {peer.Vsftpd, []string{"ascii_download_enable=YES"}},
	"proftpd":   {peer.Proftpd, nil},
	"pure-ftpd": {peer.PureFTPd, nil},
}

func onServers(t *testing.T, opts peer.FTPOptions, test func(t *testing.T, s *peer.Server)) {
	for name, server := range servers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			opts := opts
			opts.Config = server.config
			test(t, server.start(t, opts))
		})
	}
}

func client(t *testing.T, opts ftp.Options, change ...func(*fetch.Options)) *fetch.Client {
	o := fetch.Options{Policy: fetch.Typed()}
	for _, f := range change {
		f(&o)
	}
	c := fetch.New(o, ftp.Schemes(opts)...)
	t.Cleanup(func() { c.Close() })
	return c
}

func get(t *testing.T, c *fetch.Client, url string) string {
	t.Helper()
	resp, err := c.Get(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("%s: %v", url, err)
	}
	return string(body)
}

func TestRetrieve(t *testing.T) {
	onServers(t, peer.FTPOptions{}, func(t *testing.T, s *peer.Server) {
		big := bytes.Repeat([]byte("0123456789abcde\n"), 1<<16)
		s.Put("motd", []byte("hello\n"))
		s.Put("a/b c/é;x", []byte("deep\n"))
		s.Put("empty", nil)
		s.Put("big", big)
		c := client(t, ftp.Options{})
		base := "ftp://" + s.Addr
		for _, test := range []struct{ path, want string }{
			{"/motd", "hello\n"},
			{"/a/b%20c/%C3%A9%3Bx", "deep\n"},
			{"/a%2Fb%20c/%C3%A9;x", "deep\n"},
			{"/a/../motd", "hello\n"},
			{"/motd;type=i", "hello\n"},
			{"/motd;type=a", "hello\r\n"},
			{"/%2Fmotd", "hello\n"},
			{"//motd", "hello\n"},
			{"/empty", ""},
			{"/big", string(big)},
		} {
			if got := get(t, c, base+test.path); got != test.want {
				t.Errorf("%s: got %d bytes %.40q, want %d", test.path, len(got), got, len(test.want))
			}
		}
		if _, err := c.Get(t.Context(), base+"/a/nothing"); !errors.Is(err, fetch.NotFound) {
			t.Errorf("missing: %v", err)
		}
	})
}
