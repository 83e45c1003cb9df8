package rsync

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	//lint:ignore SA1019 the protocol requires it
	"golang.org/x/crypto/md4"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/fetchtest"
	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/internal/test/schemetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// big is binary data that exceeds all buffers.
var big = bytes.Repeat([]byte("0123456789abcdef\x00\xff\r\n"), 100_000)

// TestRsyncd uses the daemon of Debian.
func TestRsyncd(t *testing.T) {
	s := peer.Rsyncd(t)
	s.Put("dir/data.bin", big)
	s.Put("dir/a b#?*[x]\\.txt", []byte("x"))
	s.Put("dir/sub/y", []byte("y"))
	s.Put("empty", nil)
	if err := os.Symlink("data.bin", filepath.Join(s.Root, "dir", "link")); err != nil {
		t.Fatal(err)
	}
	old := time.Unix(1_000_000_000, 0).UTC()
	if err := os.Chtimes(filepath.Join(s.Root, "empty"), old, old); err != nil {
		t.Fatal(err)
	}
	root := "rsync://" + s.Addr + "/files"
	fetchtest.Run(t, fetchtest.Suite{
		Schemes:  Schemes,
		Document: root + "/dir/data.bin",
		Body:     big,
		Missing:  root + "/nosuch",
		Menu:     root + "/dir/",
		Names:    []string{"data.bin", "a b#?*[x]\\.txt", "link", "sub"},
		Rejected: []string{"rsync:///x", "rsync://127.0.0.1/m/a?b", "rsync://127.0.0.1/m/a%00b", "rsync://127.0.0.1/m/a%0Ab", "rsync://127.0.0.1/%23list/x",
			"rsync://127.0.0.1/--x/", "rsync://127.0.0.1:25/m/", "rsync://127.0.0.1:6379/m/"},
		NoRanges: true,
	})
	c := schemetest.NewClient(t, Schemes())
	login := strings.Replace(root, "rsync://", "rsync://"+peer.User+":"+peer.Password+"@", 1)
	for _, test := range []struct{ name, url, want string }{
		{"modules", "rsync://" + s.Addr + "/", "menu of 4"}, // two modules, and two lines of the message of the day
		{"module", root + "/", "menu of 2"},
		{"module without a slash", root, "menu of 2"},
		{"hidden module", strings.Replace(root, "files", "hidden", 1) + "/", "menu of 2"},
		{"missing module", strings.Replace(root, "files", "none", 1) + "/", "not-found"},
		{"empty file", root + "/empty", "document of 0 bytes"},
		{"special characters", root + "/dir/a%20b%23%3F%2A%5Bx%5D%5C.txt", "document of 1 bytes"},
		{"directory without a slash", root + "/dir", "menu of 4"},
		{"file with a slash", root + "/empty/", "not-found"},
		{"missing directory", root + "/none/", "not-found"},
		{"link", root + "/dir/link", fmt.Sprintf("document of %d bytes", len(big))},
		{"above the module", root + "/..%2F..%2F..%2Fetc%2Fpasswd", "not-found"},
		{"login", strings.Replace(login, "files", "private", 1) + "/empty", "document of 0 bytes"},
		{"no login", strings.Replace(root, "files", "private", 1) + "/empty", "auth"},
		{"wrong password", strings.Replace(strings.Replace(login, "files", "private", 1), peer.Password, "x", 1) + "/empty", "auth"},
	} {
		if got := schemetest.Summary(c.Get(t.Context(), test.url)); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
	all, err := schemetest.List(t, c, root+"/")
	var got []string
	for _, e := range all {
		if e.Name == "empty" && !e.Time.Equal(old) {
			t.Errorf("time %v", e.Time)
		}
		got = append(got, fmt.Sprintf("%s %s %s %d", e.Kind, e.Name, strings.TrimPrefix(e.URL.String(), root), e.Size))
	}
	slices.Sort(got)
	if want := []string{"document empty /empty 0", "menu dir /dir/ -1"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v", got, err)
	}
	req := schemetest.NewRequest(t, root+"/empty")
	req.Since = old
	if resp, _, err := schemetest.ReadRequest(t, c, req); err != nil || !resp.Unchanged {
		t.Errorf("unchanged: %v", err)
	}
}

// A script is the part of a server's stream behind the seed.
type script []byte

// message appends a message of the multiplexed stream.
func (s script) message(tag byte, data []byte) script {
	s = binary.LittleEndian.AppendUint32(s, uint32(tag)<<24|uint32(len(data)))
	return append(s, data...)
}

func (s script) data(all ...any) script {
	var b []byte
	for _, v := range all {
		switch v := v.(type) {
		case int:
			b = appendInts(b, int32(v))
		case byte:
			b = append(b, v)
		case string:
			b = append(b, v...)
		case []byte:
			b = append(b, v...)
		}
	}
	return s.message(dataTag, b)
}

const (
	fileMode = regularType | 0o644
	dirMode  = folderType | 0o755
)

// entryOf returns an entry of a list.
func entryOf(name string, size, mode int) []byte {
	b := append([]byte{1 << 3, byte(len(name))}, name...)
	return appendInts(b, int32(size), 1_000_000_000, int32(mode))
}

// hostile starts a server that sends the same bytes to each client.
func hostile(t *testing.T, greeting string, rest func(w io.Writer)) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	t.Cleanup(func() { l.Close(); all.Wait() })
	serve := func(conn *net.TCPConn) {
		defer conn.Close()
		conn.SetDeadline(time.Now().Add(5 * time.Minute))
		io.WriteString(conn, greeting)
		if rest != nil {
			conn.Write([]byte{1, 2, 3, 4})
			rest(conn)
		}
		conn.CloseWrite()
		io.Copy(io.Discard, conn)
	}
	all.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() { serve(conn.(*net.TCPConn)) })
		}
	})
	return l.Addr().String()
}

const accepted = "@RSYNCD: 27\n@RSYNCD: OK\n"

// TestHostile connects to servers that violate the protocol.
func TestHostile(t *testing.T) {
	sum := func(text string) []byte {
		h := md4.New()
		h.Write([]byte{1, 2, 3, 4})
		io.WriteString(h, text)
		return h.Sum(nil)
	}
	file := script(nil).data(entryOf("f", 3, fileMode), byte(0), 0)
	reply := file.data(0, 0, 0, 0, 0)
	for _, test := range []struct {
		name, greeting string
		rest           script
		path, want     string
	}{
		{"good", accepted, reply.data(3, "abc", 0, sum("abc")), "f", "document of 3 bytes"},
		{"not rsync", "SSH-2.0-x\n", nil, "f", "protocol"},
		{"old version", "@RSYNCD: 20\n", nil, "f", "protocol"},
		{"endless line", strings.Repeat("x", 100_000), nil, "f", "protocol"},
		{"endless message of the day", "@RSYNCD: 31.0\n" + strings.Repeat("x\n", 100_000), nil, "f", "protocol"},
		{"closed", "", nil, "f", "truncated"},
		{"full", "@RSYNCD: 31.0\n@ERROR: max connections (1) reached -- try again later\n", nil, "f", "server-temp"},
		{"wrong digest", accepted, reply.data(3, "abc", 0, sum("abd")), "f", "integrity"},
		{"short file", accepted, reply.data(2, "ab", 0, sum("ab")), "f", "truncated"},
		{"cut file", accepted, reply.data(3, "ab"), "f", "truncated"},
		{"token of 2 GiB", accepted, reply.data(0x7fffffff, "abc"), "f", "truncated"},
		{"negative token", accepted, reply.data(-5), "f", "protocol"},
		{"another index", accepted, file.data(7, 0, 0, 0, 0), "f", "protocol"},
		{"negative index", accepted, file.data(-9), "f", "protocol"},
		{"blocks", accepted, file.data(0, 5, 700, 16, 0), "f", "protocol"},
		{"no file", accepted, file.message(dataTag+1, []byte("send_files failed to open: Permission denied (13)")).data(-1), "f", "server-perm"},
		{"negative size", accepted, script(nil).data(entryOf("f", -7, fileMode)), "f", "protocol"},
		{"size of minus 2^63", accepted, script(nil).data(byte(1<<3), byte(1), "f", -1, 0, -0x80000000), "f", "protocol"},
		{"name of 2 GiB", accepted, script(nil).data(byte(longName), 0x7fffffff), "f", "protocol"},
		{"negative name", accepted, script(nil).data(byte(longName), -1), "f", "protocol"},
		{"prefix of no name", accepted, script(nil).data(byte(sameName), byte(200), byte(1), "x"), "f", "protocol"},
		{"two files", accepted, script(nil).data(entryOf("f", 3, fileMode), entryOf("g", 3, fileMode)), "f", "protocol"},
		{"device", accepted, script(nil).data(entryOf("f", 3, 0o020644), byte(0), 0), "f", "server-perm"},
		{"link of 2 GiB", accepted, script(nil).data(entryOf("f", 3, linkType), 0x7fffffff), "f", "protocol"},
		{"invalid message", accepted, script(nil).message(200, nil), "f", "protocol"},
		{"long message", accepted, script(nil).message(dataTag+2, make([]byte, maxText+1)), "f", "protocol"},
		{"names outside", accepted, script(nil).data(entryOf(".", 0, dirMode), entryOf("..", 0, dirMode), entryOf("/etc", 0, dirMode), entryOf("a/b", 1, fileMode), byte(0), 0), "d/", "menu of 3"},
		{"incomplete directory", accepted, script(nil).data(entryOf(".", 0, dirMode), byte(0), 1), "d/", "server-perm"},
		{"cut directory", accepted, script(nil).data(entryOf(".", 0, dirMode), entryOf("x", 0, dirMode)), "d/", "truncated"},
		{"many messages without data", accepted, bytes.Repeat(script(nil).message(dataTag+42, nil), 10_000), "f", "protocol"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var rest func(io.Writer)
			if strings.HasSuffix(test.greeting, "OK\n") {
				rest = func(w io.Writer) { w.Write(test.rest) }
			}
			addr := hostile(t, test.greeting, rest)
			c := schemetest.NewClient(t, Schemes())
			defer c.Close()
			if got := schemetest.Summary(c.Get(t.Context(), "rsync://"+addr+"/m/"+test.path)); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}

// TestNamesOutside checks that a name that leads elsewhere has no URL.
func TestNamesOutside(t *testing.T) {
	text := script(nil).data(entryOf(".", 0, dirMode), entryOf("..", 0, dirMode), entryOf("../x", 1, fileMode), entryOf("", 1, fileMode), byte(0), 0)
	addr := hostile(t, accepted, func(w io.Writer) { w.Write(text) })
	c := schemetest.NewClient(t, Schemes())
	all, err := schemetest.List(t, c, "rsync://"+addr+"/m/d/")
	if err != nil || len(all) != 3 {
		t.Errorf("%d entries, %v", len(all), err)
	}
	for _, e := range all {
		if !e.URL.IsZero() {
			t.Errorf("%q: %s", e.Name, e.URL)
		}
	}
}

func FuzzList(f *testing.F) {
	f.Add([]byte(script(nil).data(entryOf(".", 0, dirMode), entryOf("x", 5, fileMode), byte(0), 0)), false, false)
	f.Add([]byte(script(nil).data(byte(sameName|longName), byte(1), 3, "abc", 4, 5, linkType, 3, "abc")), false, false)
	f.Add([]byte(script(nil).data(varEntry(".", 0, dirMode), varEntry("x", 5, fileMode), byte(0), byte(0))), true, true)
	f.Add([]byte(script(nil).data(varEntry("x", 5, linkType), byte(1), "y", byte(moreFlags), byte(endWithErrors>>8), byte(1))), true, false)
	f.Fuzz(func(t *testing.T, text []byte, variable, wide bool) {
		l := &list{s: &stream{r: bufio.NewReader(bytes.NewReader(text)), version: oldest}}
		if variable {
			l.s.version, l.s.wide = newest, wide
		}
		base := schemetest.NewRequest(t, "rsync://127.0.0.1/m/d/").URL
		for {
			item, err := l.next()
			if err != nil {
				return
			}
			if y := item.time.Year(); y < 1 || y > 9999 || item.size < 0 {
				t.Errorf("%v, %d bytes", item.time, item.size)
			}
			if e := item.entry(base); !e.URL.IsZero() && !strings.HasPrefix(e.URL.String(), "rsync://127.0.0.1/m/d/") {
				t.Errorf("%q: %s", item.name, e.URL)
			}
		}
	})
}

func FuzzLocate(f *testing.F) {
	f.Add("rsync://h/m/a%20b")
	f.Fuzz(func(t *testing.T, text string) {
		u, err := fetch.ParseURL(text)
		if err != nil || u.Scheme() != "rsync" {
			return
		}
		if l, err := locate(u); err == nil && strings.ContainsAny(l.module+l.argument(), "\r\n\x00") {
			t.Errorf("%q: %q", text, l.argument())
		}
	})
}

func TestPlan(t *testing.T) {
	schemetest.Plans(t, Schemes()[0], map[string]string{
		"rsync://h/":         "#list",
		"rsync://h/m/a%20b/": "m; --server --sender -ltde.fCv . m/a b/",
		"rsync://h/m/a%2A":   `m; --server --sender -Ltde.fCv . m/a\*`,
	})
}
