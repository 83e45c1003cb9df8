package ftp_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/fetchtest"
	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/internal/test/schemetest"
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
	return schemetest.NewClient(t, ftp.Schemes(opts), change...)
}

func get(t *testing.T, c *fetch.Client, url string) string {
	t.Helper()
	_, body, err := schemetest.Read(t, c, url)
	if err != nil {
		t.Fatalf("%s: %v", url, err)
	}
	return body
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

func TestConformance(t *testing.T) {
	onServers(t, peer.FTPOptions{}, func(t *testing.T, s *peer.Server) {
		body := bytes.Repeat([]byte("0123456789abcde\n"), 1<<14)
		s.Put("dir/big", body)
		s.Put("dir/a b", nil)
		base := "ftp://" + s.Addr
		fetchtest.Run(t, fetchtest.Suite{
			Schemes:  func() []fetch.Scheme { return ftp.Schemes(ftp.Options{}) },
			Document: base + "/dir/big",
			Body:     body,
			Missing:  base + "/dir/nothing",
			Menu:     base + "/dir/",
			Names:    []string{"big", "a b"},
			Rejected: []string{base + "/a%0D%0ADELE%20b", base + "/%00", base + "/x;type=x", "ftp://127.0.0.1:25/x", "ftp://127.0.0.1:6379/x"},
		})
	})
}

// TestActive: the server connects to us, whether it is told by EPRT or PORT.
func TestActive(t *testing.T) {
	onServers(t, peer.FTPOptions{}, func(t *testing.T, s *peer.Server) {
		s.Put("motd", []byte("hello\n"))
		for _, opts := range []ftp.Options{
			{Active: "-"}, {Active: "127.0.0.1"}, {Active: "-", NoEPRT: true},
			{Active: "192.0.2.1"}, // not ours, and not announced
		} {
			c := client(t, opts)
			for range 2 {
				if got := get(t, c, "ftp://"+s.Addr+"/motd"); got != "hello\n" {
					t.Errorf("%+v: got %q", opts, got)
				}
			}
			if got := get(t, c, "ftp://"+s.Addr); !strings.Contains(got, "motd") {
				t.Errorf("%+v: got %q", opts, got)
			}
		}
	})
}

// TestNames: every entry of a listing leads to its file, whatever its name is
// made of, and links are told from files.
func TestNames(t *testing.T) {
	onServers(t, peer.FTPOptions{}, func(t *testing.T, s *peer.Server) {
		names := []string{"é", "caf\xe9", "\xff\xff", " a  b ", "-l", "a -> b", "%2F;type=a?#&", `"quoted"`, "*[a-z]?", "$(x)", "日本語"}
		for _, name := range names {
			s.Put("dir/"+name, []byte(name))
		}
		if err := os.Symlink("-l", filepath.Join(s.Root, "dir", "link")); err != nil {
			t.Fatal(err)
		}
		c := client(t, ftp.Options{})
		resp, err := c.Get(t.Context(), "ftp://"+s.Addr+"/dir/")
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for e, err := range resp.Entries() {
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case e.Kind == fetch.Info:
				continue
			case e.Name == "link":
				if e.Extra["type"] != "symlink" || e.Kind != fetch.Unknown {
					t.Errorf("link: %+v", e)
				}
			case e.Kind != fetch.Document || e.Size < 1 || e.Time.IsZero():
				t.Errorf("entry %+v", e)
			}
			body := get(t, c, e.URL.Unredacted())
			if e.Name != "link" && int64(len(body)) != e.Size {
				t.Errorf("%s: got %q", e.URL, body)
			}
			seen[body] = true
		}
		for _, name := range names {
			if !seen[name] {
				t.Errorf("%q was not found", name)
			}
		}
	})
}

// TestOtherWays: every option that changes the commands brings the same file.
func TestOtherWays(t *testing.T) {
	onServers(t, peer.FTPOptions{}, func(t *testing.T, s *peer.Server) {
		s.Put("a/b/motd", []byte("hello\n"))
		for _, opts := range []ftp.Options{
			{Method: ftp.SingleCWD}, {Method: ftp.NoCWD}, {NoEPSV: true}, {NamesOnly: true}, {IgnoreSize: true},
		} {
			c := client(t, opts)
			if got := get(t, c, "ftp://"+s.Addr+"/a/b/motd"); got != "hello\n" {
				t.Errorf("%+v: got %q", opts, got)
			}
			for _, path := range []string{"/a/b/", "/a/b;type=d", "//a/b/", "/%2Fa/b/"} {
				if got := get(t, c, "ftp://"+s.Addr+path); !strings.Contains(got, "motd") {
					t.Errorf("%+v: %s: got %q", opts, path, got)
				}
			}
		}
	})
}

// TestDirectoryWithoutSlash: one finds it all the same.
func TestDirectoryWithoutSlash(t *testing.T) {
	onServers(t, peer.FTPOptions{}, func(t *testing.T, s *peer.Server) {
		s.Put("a/b/motd", []byte("hello\n"))
		c := client(t, ftp.Options{})
		for _, op := range []fetch.Op{fetch.Get, fetch.Stat, fetch.Get} {
			u, err := fetch.ParseURL("ftp://" + s.Addr + "/a/b")
			if err != nil {
				t.Fatal(err)
			}
			resp, err := c.Do(t.Context(), &fetch.Request{URL: u, Op: op})
			if err != nil {
				t.Fatal(err)
			}
			list, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			if err != nil || strings.Contains(string(list), "motd") != (op == fetch.Get) {
				t.Errorf("%v: got %q, %v", op, list, err)
			}
			if resp.Kind != fetch.Menu || resp.URL.Path() != "/a/b/" {
				t.Errorf("%v: got %v %s", op, resp.Kind, resp.URL)
			}
			if got := get(t, c, "ftp://"+s.Addr+"/a/b/motd"); got != "hello\n" {
				t.Errorf("after %v: got %q", op, got)
			}
		}
	})
}

// TestLinks: what is said of a link is said of what it leads to, for that is
// what comes.
func TestLinks(t *testing.T) {
	onServers(t, peer.FTPOptions{}, func(t *testing.T, s *peer.Server) {
		s.Put("a/motd", []byte("hello there\n"))
		for link, target := range map[string]string{"file": "a/motd", "dir": "a"} {
			if err := os.Symlink(target, filepath.Join(s.Root, link)); err != nil {
				t.Fatal(err)
			}
		}
		c := client(t, ftp.Options{})
		for link, want := range map[string]string{"file": "hello there\n", "dir": "motd"} {
			if got := get(t, c, "ftp://"+s.Addr+"/"+link); !strings.Contains(got, want) {
				t.Errorf("%s: got %q", link, got)
			}
			resp, err := c.Do(t.Context(), &fetch.Request{URL: urlOf(t, s, link), Op: fetch.Stat})
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			if link == "file" && resp.Size != 12 || link == "dir" && resp.Kind != fetch.Menu {
				t.Errorf("%s: %v of %d bytes", link, resp.Kind, resp.Size)
			}
		}
	})
}

// TestUnread: a directory that may be entered and not read is not empty.
func TestUnread(t *testing.T) {
	onServers(t, peer.FTPOptions{}, func(t *testing.T, s *peer.Server) {
		s.Put("a/motd", []byte("hello\n"))
		if err := os.Chmod(filepath.Join(s.Root, "a"), 0o711); err != nil {
			t.Fatal(err)
		}
		resp, err := client(t, ftp.Options{}).Get(t.Context(), "ftp://"+s.Addr+"/a/")
		if err == nil {
			_, err = io.ReadAll(resp.Body)
			resp.Body.Close()
		}
		if !errors.Is(err, fetch.Denied) && !errors.Is(err, fetch.NotFound) {
			t.Errorf("got %v", err)
		}
	})
}

// TestLogin: users of a server, and those whom it does not know.
func TestLogin(t *testing.T) {
	onServers(t, peer.FTPOptions{}, func(t *testing.T, s *peer.Server) {
		s.PutHome("private", []byte("mine\n"))
		s.Put("private", []byte("everybody's\n"))
		asked := 0
		c := client(t, ftp.Options{}, func(o *fetch.Options) {
			o.Login = func(_ context.Context, ch fetch.Challenge) (*fetch.Credential, error) {
				if ch.User != peer.User {
					return nil, nil
				}
				asked++
				return &fetch.Credential{User: peer.User, Password: peer.Password}, nil
			}
		})
		for _, test := range []struct{ userinfo, want string }{
			{peer.User + ":" + peer.Password + "@", "mine\n"},
			{"", "everybody's\n"},
			{peer.User + "@", "mine\n"},
			{peer.User + ":wrong@", "mine\n"}, // and the right one when asked again
		} {
			if got := get(t, c, "ftp://"+test.userinfo+s.Addr+"/private"); got != test.want {
				t.Errorf("%q: got %q, want %q", test.userinfo, got, test.want)
			}
		}
		if asked != 2 {
			t.Errorf("asked %d times, want 2", asked)
		}
		if _, err := client(t, ftp.Options{}).Get(t.Context(), "ftp://alice:wrong@"+s.Addr+"/private"); !errors.Is(err, fetch.Auth) {
			t.Errorf("wrong password: %v", err)
		}
	})
}

// TestLoginAnswered: where no guests are let in, somebody is asked, once.
func TestLoginAnswered(t *testing.T) {
	s := peer.Vsftpd(t, peer.FTPOptions{Config: []string{"anonymous_enable=NO"}})
	s.PutHome("private", []byte("mine\n"))
	var asked []fetch.Challenge
	c := client(t, ftp.Options{}, func(o *fetch.Options) {
		o.Login = func(_ context.Context, ch fetch.Challenge) (*fetch.Credential, error) {
			asked = append(asked, ch)
			return &fetch.Credential{User: peer.User, Password: peer.Password}, nil
		}
	})
	for _, userinfo := range []string{"", "", peer.User + "@", peer.User + "@"} {
		if got := get(t, c, "ftp://"+userinfo+s.Addr+"/private"); got != "mine\n" {
			t.Errorf("%q: got %q", userinfo, got)
		}
	}
	if len(asked) != 2 || asked[0].User != "" || asked[0].Rejected || asked[1].User != peer.User || asked[1].Rejected {
		t.Errorf("asked %+v, want once for anybody and once for %s", asked, peer.User)
	}
	if commands := strings.Count(s.Log(), "USER"); commands > 4 {
		t.Errorf("%d logins:\n%s", commands, s.Log())
	}
}

// TestConditions: what was said of a file by MDTM and SIZE holds when it is
// asked for again.
func TestConditions(t *testing.T) {
	onServers(t, peer.FTPOptions{}, func(t *testing.T, s *peer.Server) {
		path := s.Put("motd", []byte("hello\n"))
		when := time.Date(2024, 3, 1, 12, 0, 0, 0, time.UTC)
		if err := os.Chtimes(path, when, when); err != nil {
			t.Fatal(err)
		}
		c := client(t, ftp.Options{})
		do := func(req fetch.Request) *fetch.Response {
			t.Helper()
			var err error
			if req.URL, err = fetch.ParseURL("ftp://" + s.Addr + "/motd"); err != nil {
				t.Fatal(err)
			}
			resp, err := c.Do(t.Context(), &req)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.Copy(io.Discard, resp.Body); err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			return resp
		}
		whole := do(fetch.Request{Op: fetch.Stat})
		if whole.Size != 6 || !whole.Time.Equal(when) || whole.Validator != "6-20240301120000" {
			t.Errorf("size %d, time %v, validator %q", whole.Size, whole.Time, whole.Validator)
		}
		for name, test := range map[string]struct {
			req       fetch.Request
			unchanged bool
			offset    int64
		}{
			"known":       {fetch.Request{IfNot: whole.Validator}, true, 0},
			"not newer":   {fetch.Request{Since: when}, true, 0},
			"newer":       {fetch.Request{Since: when.Add(-time.Second)}, false, 0},
			"too new":     {fetch.Request{Before: when.Add(-time.Second)}, true, 0},
			"old enough":  {fetch.Request{Before: when}, false, 0},
			"resumed":     {fetch.Request{IfSame: whole.Validator, Range: fetch.Range{First: 3}}, false, 3},
			"not resumed": {fetch.Request{IfSame: "other", Range: fetch.Range{First: 3}}, false, 0},
		} {
			if resp := do(test.req); resp.Unchanged != test.unchanged || resp.Offset != test.offset {
				t.Errorf("%s: unchanged %v, offset %d", name, resp.Unchanged, resp.Offset)
			}
		}
	})
}
