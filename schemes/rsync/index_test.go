package rsync

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	//lint:ignore SA1019 the protocol requires it
	"golang.org/x/crypto/md4"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/internal/test/schemetest"
)

// countConnections returns the address of a relay to a server, and the number of
// connections through it.
func countConnections(t *testing.T, server string) (addr string, count *atomic.Int32) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	count = &atomic.Int32{}
	var all sync.WaitGroup
	t.Cleanup(func() { l.Close(); all.Wait() })
	all.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			to, err := net.Dial("tcp", server)
			if err != nil {
				client.Close()
				return
			}
			count.Add(1)
			for _, pair := range [][2]net.Conn{{client, to}, {to, client}} {
				all.Go(func() {
					io.Copy(pair[0], pair[1])
					pair[0].Close()
					pair[1].Close()
				})
			}
		}
	})
	return l.Addr().String(), count
}

// testSessions requests the files of a directory from a daemon.
func testSessions(t *testing.T, s *peer.Server, version int) {
	names := []string{"sub.txt", "sub-x", "sub", "0-dir", "A", "a", "a.b", "a-b", "a b", "é", "\xff", ".hidden", "~", "0"}
	for i := range 50 {
		names = append(names, fmt.Sprintf("file-%d", i))
	}
	for _, name := range names {
		if name == "sub" || name == "0-dir" {
			s.Put("dir/"+name+"/inner", []byte("inner"))
			continue
		}
		s.Put("dir/"+name, bytes.Repeat([]byte(name), 100))
	}
	if err := os.Symlink("a", filepath.Join(s.Root, "dir", "link")); err != nil {
		t.Fatal(err)
	}
	addr, count := countConnections(t, s.Addr)
	root := "rsync://" + addr + "/files/dir/"
	c := schemetest.NewClient(t, upTo(version))
	all, err := schemetest.List(t, c, root)
	if err != nil || len(all) != len(names)+1 {
		t.Fatalf("%d entries, %v", len(all), err)
	}
	for _, e := range all {
		if e.Kind != fetch.Document {
			continue
		}
		resp, body, err := schemetest.ReadRequest(t, c, schemetest.NewRequest(t, e.URL.String()))
		if err != nil || string(body) != strings.Repeat(string(body[:len(body)/100]), 100) || resp.Size != e.Size || !resp.Time.Equal(e.Time) {
			t.Fatalf("%s: %d of %d bytes, %v", e.Name, len(body), e.Size, err)
		}
		if name, _ := strings.CutPrefix(e.URL.String(), root); !strings.Contains(name, "%") && string(body[:len(name)]) != name {
			t.Errorf("%s: got %q", name, body[:len(name)])
		}
	}
	if n := count.Load(); n != 1 {
		t.Errorf("%d connections for a list and %d files, want 1", n, len(names)-2)
	}
	s.Put("dir/file-2", []byte("changed"))
	s.Put("dir/new", []byte("new"))
	for _, test := range []struct{ name, path, want string }{
		{"link", "link", "document of 100 bytes"},
		{"shorter than in the list", "file-2", "truncated"},
		{"shorter, second request", "file-2", "document of 7 bytes"},
		{"new", "new", "document of 3 bytes"},
		{"missing", "none", "not-found"},
		{"directory", "sub", "menu of 1"},
	} {
		if got := schemetest.Summary(c.Get(t.Context(), root+test.path)); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
	if _, err := schemetest.List(t, c, root); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(s.Root, "dir", "file-1")); err != nil {
		t.Fatal(err)
	}
	if got := schemetest.Summary(c.Get(t.Context(), root+"file-1")); got != "not-found" {
		t.Errorf("removed after the list was read: %s", got)
	}
	req := schemetest.NewRequest(t, root+"file-3")
	req.Since = time.Now().Add(time.Hour)
	if resp, _, err := schemetest.ReadRequest(t, c, req); err != nil || !resp.Unchanged {
		t.Errorf("unchanged: %v", err)
	}
}

// TestSessions uses one session for all files of a directory.
func TestSessions(t *testing.T) {
	for _, version := range []int{27, 30, 31} {
		t.Run(fmt.Sprintf("Debian 12, version %d", version), func(t *testing.T) { testSessions(t, peer.Rsyncd(t), version) })
		t.Run(fmt.Sprintf("Debian 13, version %d", version), func(t *testing.T) { testSessions(t, peer.RsyncdNewer(t), version) })
	}
}

// TestParallelSessions requests files of a directory at the same time, and ends
// some of the bodies early.
func TestParallelSessions(t *testing.T) {
	s := peer.Rsyncd(t)
	for i := range 40 {
		s.Put(fmt.Sprintf("dir/%d", i), bytes.Repeat([]byte{byte(i)}, 100_000))
	}
	c := schemetest.NewClient(t, Schemes())
	var all sync.WaitGroup
	for w := range 4 {
		all.Go(func() {
			for i := w; i < 40; i += 4 {
				resp, err := c.Get(t.Context(), fmt.Sprintf("rsync://%s/files/dir/%d", s.Addr, i))
				if err != nil {
					t.Error(err)
					continue
				}
				if i%5 == 0 {
					resp.Body.Close()
					continue
				}
				body, err := io.ReadAll(resp.Body)
				resp.Body.Close()
				if err != nil || !bytes.Equal(body, bytes.Repeat([]byte{byte(i)}, 100_000)) {
					t.Errorf("%d: %d bytes, %v", i, len(body), err)
				}
			}
		})
	}
	all.Wait()
}

// TestHostileSession requests a file by its index from servers that violate the
// protocol.
func TestHostileSession(t *testing.T) {
	h := md4.New()
	h.Write([]byte{1, 2, 3, 4})
	io.WriteString(h, "abc")
	sum := h.Sum(nil)
	entries := slices.Clip(script(nil).data(entryOf(".", 0, dirMode), entryOf("f", 3, fileMode)))
	directory := slices.Clip(entries.data(byte(0), 0))
	for _, test := range []struct {
		name string
		rest script
		want string
	}{
		{"good", directory.data(1, 0, 0, 0, 0, 3, "abc", 0, sum), "document of 3 bytes"},
		{"another index", directory.data(0, 0, 0, 0, 0), "protocol"},
		{"index out of range", directory.data(1<<30, 0, 0, 0, 0), "protocol"},
		{"end of the files", directory.data(-1), "server-perm"},
		{"message in place of the file", directory.message(dataTag+3, []byte("file has vanished: \"f\"")), "not-found"},
		{"longer file", directory.data(1, 0, 0, 0, 0, 3, "abc", 1, "d", 0, sum), "truncated"},
		{"closed", directory, "truncated"},
		{"repeated name", entries.data(entryOf("f", 3, fileMode), byte(0), 0), "menu of 2"}, // the file is requested without the list
	} {
		t.Run(test.name, func(t *testing.T) {
			addr := hostile(t, accepted, func(w io.Writer) { w.Write(test.rest) })
			c := schemetest.NewClient(t, Schemes())
			defer c.Close()
			if got := schemetest.Summary(c.Get(t.Context(), "rsync://"+addr+"/m/d/")); !strings.HasPrefix(got, "menu of") {
				t.Fatalf("list: %s", got)
			}
			if got := schemetest.Summary(c.Get(t.Context(), "rsync://"+addr+"/m/d/f")); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}

// TestLongDirectory verifies that the list of a long directory is not kept.
func TestLongDirectory(t *testing.T) {
	x := indexer{}
	for i := range maxIndex + 1 {
		x.add(item{name: fmt.Sprint(i), mode: fileMode})
	}
	if x.index(newest) != nil || x.list.files != nil {
		t.Error("a long list is kept")
	}
	x = indexer{}
	for i := range maxIndexNames/maxName + 1 {
		x.add(item{name: strings.Repeat("x", maxName-8) + fmt.Sprintf("%08d", i), mode: fileMode})
	}
	if x.index(newest) != nil {
		t.Error("a list with long names is kept")
	}
}
