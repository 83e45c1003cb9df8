package nfs_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-git/go-billy/v5/osfs"
	gonfs "github.com/willscott/go-nfs"
	"github.com/willscott/go-nfs/helpers"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/fetchtest"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/schemes/nfs"
)

// fill creates the files of the tests in a directory.
func fill(t *testing.T, dir string) (big []byte) {
	t.Helper()
	big = make([]byte, 5<<20+123)
	rand.NewChaCha8([32]byte{1}).Read(big)
	for name, text := range map[string]string{"motd": "hello\n", "empty": "", "sub/ä?b": "odd name\n", "sub/deep/x": "deep\n", "big": string(big)} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range map[string]string{
		"sub/link": "../motd", "dirlink": "sub/deep", "absolute": dir + "/sub/deep/x", "chain": "dirlink/../link",
		"outside": "/etc/passwd", "above": "../../../../etc/passwd", "sub/loop": "loop", "broken": "nowhere",
	} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return big
}

// TestSuite runs the tests of the contract with nfs-ganesha.
func TestSuite(t *testing.T) {
	s, opts, change := ganesha(t)
	big := fill(t, s.Root)
	var o fetch.Options
	change(&o)
	root := strings.TrimSuffix(host, "/") + s.Root + "/"
	rejected := []string{"nfs:///x", host + "a%2Fb", host + "a%00", host + "..%2Fx", host + "a/%2E%2E/b", host + "a?b"}
	for _, port := range []string{"25", "79", "111", "6379", "0", "65746"} {
		rejected = append(rejected, "nfs://192.0.2.1:"+port+"/x")
	}
	fetchtest.Run(t, fetchtest.Suite{
		Schemes: func() []fetch.Scheme { return nfs.Schemes(opts) }, Options: o,
		Document: root + "big", Body: big,
		Missing: root + "none",
		Menu:    root + "sub/", Names: []string{"ä?b", "deep", "link"},
		Rejected: rejected,
	})
}

// TestServers retrieves files and lists directories of nfs-ganesha and go-nfs.
func TestServers(t *testing.T) {
	t.Run("ganesha", func(t *testing.T) {
		s, opts, change := ganesha(t)
		fill(t, s.Root)
		check(t, schemetest.NewClient(t, nfs.Schemes(opts), change), strings.TrimSuffix(host, "/")+s.Root+"/")
		c := schemetest.NewClient(t, nfs.Schemes(opts), change)
		if _, body, err := schemetest.Read(t, c, strings.TrimSuffix(host, "/")+s.Root+"/absolute"); err != nil || body != "deep\n" {
			t.Errorf("absolute link: got %q, %v", body, err)
		}
		all, err := schemetest.List(t, c, host)
		if err != nil || len(all) != 1 || all[0].Name != s.Root || all[0].URL.String() != strings.TrimSuffix(host, "/")+s.Root+"/" {
			t.Errorf("exports: got %+v, %v", all, err)
		}
		if _, _, err := schemetest.Read(t, c, host+"other"); fetch.FaultOf(err) != fetch.NotFound {
			t.Errorf("not exported: got %v", err)
		}
	})
	t.Run("ganesha for privileged ports", func(t *testing.T) {
		s, opts, _ := ganesha(t, "PrivilegedPort = true;")
		fill(t, s.Root)
		c := schemetest.NewClient(t, nfs.Schemes(opts)) // dials the address of the server
		if _, body, err := schemetest.Read(t, c, "nfs://"+s.Addr+s.Root+"/sub/link"); err != nil || body != "hello\n" {
			t.Errorf("got %q, %v", body, err)
		}
	})
	t.Run("go-nfs", func(t *testing.T) {
		dir := t.TempDir()
		fill(t, dir)
		check(t, schemetest.NewClient(t, nfs.Schemes(nfs.Options{}), dial(goNFS(t, dir), "127.0.0.1:1")), host)
	})
}

// goNFS serves a directory and returns the address of the server.
func goNFS(t *testing.T, dir string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gonfs.Log.SetLevel(gonfs.PanicLevel)
	done := make(chan struct{})
	go func() {
		defer close(done)
		gonfs.Serve(l, helpers.NewCachingHandler(helpers.NewNullAuthHandler(osfs.New(dir)), 1024))
	}()
	t.Cleanup(func() { l.Close(); <-done })
	return l.Addr().String()
}

func check(t *testing.T, c *fetch.Client, root string) {
	t.Helper()
	for _, test := range []struct{ path, want string }{
		{"motd", "hello\n"},
		{"empty", ""},
		{"sub/%C3%A4%3Fb", "odd name\n"},
		{"sub/link", "hello\n"},
		{"dirlink/x", "deep\n"},
		{"chain", "not-found"}, // dirlink/.. is sub/, which has a link
		{"outside", "server-perm"},
		{"above", "server-perm"},
		{"sub/loop", "loop"},
		{"broken", "not-found"},
		{"none", "not-found"},
		{"motd/x", "not-found"},
	} {
		if test.path == "chain" {
			test.want = "hello\n"
		}
		_, body, err := schemetest.Read(t, c, root+test.path)
		if err != nil {
			body = fetch.FaultOf(err).String()
		}
		if body != test.want {
			t.Errorf("%s: got %q, %v, want %q", test.path, body, err, test.want)
		}
	}
	all, err := schemetest.List(t, c, root)
	got := map[string]string{}
	for _, e := range all {
		got[e.Name] = fmt.Sprintf("%v %d %s", e.Kind, e.Size, strings.TrimPrefix(e.URL.String(), root))
	}
	for name, want := range map[string]string{"motd": "document 6 motd", "sub": "menu -1 sub/", "dirlink": "menu -1 dirlink/", "outside": "info -1 ", "broken": "info -1 "} {
		if got[name] != want {
			t.Errorf("entry %s: got %q, %v, want %q", name, got[name], err, want)
		}
	}
	if err != nil || len(all) != 10 {
		t.Errorf("got %d entries, %v", len(all), err)
	}
	_, first, err := schemetest.Read(t, c, root+"big")
	if err != nil || len(first) != 5<<20+123 {
		t.Errorf("big: got %d bytes, %v", len(first), err)
	}
	req := schemetest.NewRequest(t, root+"big")
	req.Range = fetch.Range{First: 1<<20 + 7, End: 3<<20 + 1}
	if _, part, err := schemetest.ReadRequest(t, c, req); err != nil || !bytes.Equal([]byte(part), []byte(first[1<<20+7:3<<20+1])) {
		t.Errorf("range: got %d bytes, %v", len(part), err)
	}
}
