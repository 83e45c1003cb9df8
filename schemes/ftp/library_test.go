package ftp_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	library "github.com/jlaffaye/ftp"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/schemes/ftp"
	"github.com/anyurl/fetch/uri"
)

// dialLibrary logs in with github.com/jlaffaye/ftp, the oracle of the tests of
// this file.
func dialLibrary(t testing.TB, s *peer.Server, opts ...library.DialOption) *library.ServerConn {
	t.Helper()
	opts = append([]library.DialOption{
		library.DialWithShutTimeout(5 * time.Second),
		library.DialWithDialFunc(func(network, address string) (net.Conn, error) {
			return (&net.Dialer{Timeout: 5 * time.Second}).DialContext(context.Background(), network, address)
		}),
	}, opts...)
	if len(opts) > 2 {
		opts = slices.Delete(opts, 1, 2) // with a function of ours it forgets TLS on data connections
	}
	c, err := library.Dial(s.Addr, opts...)
	if err == nil {
		err = c.Login("anonymous", "fetch@")
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Quit() })
	return c
}

// TestAgainstLibrary: the library and this package bring the same files, the
// same sizes and times, and the same listings.
func TestAgainstLibrary(t *testing.T) {
	onServers(t, peer.FTPOptions{}, func(t *testing.T, s *peer.Server) {
		files := map[string]string{
			"motd": "hello\n", "empty": "", "dir/deep/x": "x", "dir/a b": "spaces",
			"dir/é": "utf-8", "dir/ leading": "1", "dir/trailing ": "2", "dir/-l": "3", "dir/a -> b": "4", "dir/%2F;type=a?#": "5",
			"big": string(bytes.Repeat([]byte("0123456789abcdef"), 1<<16)),
		}
		for name, text := range files {
			s.Put(name, []byte(text))
		}
		c, lib := client(t, ftp.Options{}), dialLibrary(t, s)
		for _, name := range slices.Sorted(maps.Keys(files)) {
			u := urlOf(t, s, name)
			resp, err := c.Do(t.Context(), &fetch.Request{URL: u})
			if err != nil {
				t.Fatal(err)
			}
			ours, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			if err != nil {
				t.Fatal(err)
			}
			r, err := lib.Retr(name)
			if err != nil {
				t.Fatal(err)
			}
			theirs, err := io.ReadAll(r)
			if err == nil {
				err = r.Close()
			}
			if err != nil || !bytes.Equal(ours, theirs) || string(ours) != files[name] {
				t.Errorf("%s: got %d bytes, library %d, %v", name, len(ours), len(theirs), err)
			}
			size, err := lib.FileSize(name)
			if err != nil || size != resp.Size {
				t.Errorf("%s: size %d, library %d, %v", name, resp.Size, size, err)
			}
			when, err := lib.GetTime(name)
			if err != nil || !when.Equal(resp.Time) {
				t.Errorf("%s: time %v, library %v, %v", name, resp.Time, when, err)
			}
		}
		for _, dir := range []string{"", "dir", "dir/deep"} {
			list, err := lib.List(dir)
			if err != nil {
				t.Fatal(err)
			}
			compareEntries(t, c, s, dir, list)
		}
	})
}

func urlOf(t *testing.T, s *peer.Server, name string) uri.URI {
	t.Helper()
	path := strings.ReplaceAll(uri.Escape("/"+name, uri.Path), ";", "%3B")
	u, err := fetch.ParseURL("ftp://" + s.Addr + path)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// compareEntries holds a listing against that of the library. It trims names
// and gives up on some lines, so it may know less than we do, but nothing
// else.
func compareEntries(t *testing.T, c *fetch.Client, s *peer.Server, dir string, list []*library.Entry) {
	t.Helper()
	u, err := urlOf(t, s, dir).WithPath(strings.TrimSuffix(urlOf(t, s, dir).Path(), "/") + "/")
	if err != nil {
		t.Fatal(err)
	}
	resp, err := c.Do(t.Context(), &fetch.Request{URL: u})
	if err != nil {
		t.Fatal(err)
	}
	ours := map[string]fetch.Entry{}
	for e, err := range resp.Entries() {
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind != fetch.Info {
			ours[strings.TrimSpace(e.Name)] = e
		}
	}
	for _, theirs := range list {
		if theirs.Name == "." || theirs.Name == ".." {
			continue
		}
		e, ok := ours[strings.TrimSpace(theirs.Name)]
		if !ok {
			t.Errorf("%s: no entry for the library's %q in %q", dir, theirs.Name, slices.Collect(maps.Keys(ours)))
			continue
		}
		if theirs.Type == library.EntryTypeFolder != (e.Kind == fetch.Menu) ||
			e.Kind == fetch.Document && uint64(e.Size) != theirs.Size || !e.Time.Equal(theirs.Time) {
			t.Errorf("%s: got %v %d %v %q, library %v %d %v %q", dir, e.Kind, e.Size, e.Time, e.Name, theirs.Type, theirs.Size, theirs.Time, theirs.Name)
		}
		got, err := c.Do(t.Context(), &fetch.Request{URL: e.URL, Op: fetch.Stat})
		if err != nil {
			t.Errorf("%s: %v", e.URL, fmt.Errorf("entry %q: %w", e.Name, err))
			continue
		}
		got.Body.Close()
	}
}
