package urlfs_test

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/urlfs"
	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/schemes"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/warc"
	"github.com/anyurl/fetch/warc/record"
)

// files are the files of all servers.
var files = map[string]string{
	"a.txt": "first\n", "empty": "", "sub/b c.txt": "second\n", "sub/deep/d#1.bin": "\x00\xff", "sub/deep/ä.txt": "third\n",
}

func names() []string { return slices.Sorted(maps.Keys(files)) }

// newClient returns a Client that may use the given port.
func newClient(t *testing.T, o schemes.Options, addr string, wrap ...fetch.Middleware) *fetch.Client {
	policy := fetch.Typed()
	if _, text, err := net.SplitHostPort(addr); err == nil {
		port, err := strconv.ParseUint(text, 10, 16)
		if err != nil {
			t.Fatal(err)
		}
		policy.Ports = []fetch.PortRule{{Port: uint16(port), Any: true}, {Port: uint16(port) + 1, Any: true}}
	}
	c := fetch.New(fetch.Options{Policy: policy, Wrap: wrap}, schemes.All(o)...)
	t.Cleanup(func() { c.Close() })
	return c
}

// put writes files to a folder.
func put(t *testing.T, root string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// check runs the tests of package fstest, and compares the contents.
func check(t *testing.T, client *fetch.Client, url string) {
	t.Helper()
	if err := fstest.TestFS(urlfs.New(t.Context(), client, url), names()...); err != nil {
		t.Error(err)
	}
	fsys, got := urlfs.New(t.Context(), client, url), map[string]string{}
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := fs.ReadFile(fsys, name)
		if info, err := d.Info(); err != nil || info.Size() != int64(len(text)) {
			t.Errorf("%s: size %d, %v, want %d", name, info.Size(), err, len(text))
		}
		got[name] = string(text)
		return err
	})
	if err != nil || !maps.Equal(got, files) {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestFile(t *testing.T) {
	root := t.TempDir()
	put(t, root)
	check(t, newClient(t, schemes.Options{}, ""), "file://"+root+"/")
}

// TestRoot checks that a walk starts with the error of a root that is no
// directory.
func TestRoot(t *testing.T) {
	dir := t.TempDir()
	put(t, dir)
	c := newClient(t, schemes.Options{}, "")
	base := "file://" + filepath.ToSlash(dir)
	for _, test := range []struct {
		name, url string
		is        error
	}{
		{"invalid", "file://[", fetch.BadURL},
		{"missing", base + "/none/", fs.ErrNotExist},
		{"missing, by its Fault", base + "/none/", fetch.NotFound},
		{"a file", base + "/a.txt", fetch.Unsupported},
	} {
		calls := 0
		err := fs.WalkDir(urlfs.New(t.Context(), c, test.url), ".", func(_ string, d fs.DirEntry, err error) error {
			calls++
			if d != nil {
				t.Errorf("%s: a directory entry for the root", test.name)
			}
			return err
		})
		if calls != 1 || !errors.Is(err, test.is) {
			t.Errorf("%s: %d calls, %v", test.name, calls, err)
		}
	}
}

func TestFileServer(t *testing.T) {
	root := t.TempDir()
	put(t, root)
	s := httptest.NewServer(http.FileServer(http.Dir(root)))
	defer s.Close()
	check(t, newClient(t, schemes.Options{}, ""), s.URL)
}

func TestServers(t *testing.T) {
	for name, start := range map[string]func(t *testing.T) (*peer.Server, schemes.Options, string){
		"http": func(t *testing.T) (*peer.Server, schemes.Options, string) {
			s := peer.Nginx(t, peer.NginxOptions{})
			return s, schemes.Options{}, "http://" + s.Addr + "/"
		},
		"ftp without MLSD": func(t *testing.T) (*peer.Server, schemes.Options, string) {
			s := peer.Vsftpd(t, peer.FTPOptions{})
			return s, schemes.Options{}, "ftp://" + s.Addr + "/"
		},
		"ftp": func(t *testing.T) (*peer.Server, schemes.Options, string) {
			s := peer.Proftpd(t, peer.FTPOptions{})
			return s, schemes.Options{}, "ftp://" + s.Addr + "/"
		},
		"sftp": func(t *testing.T) (*peer.Server, schemes.Options, string) {
			s := peer.SSHD(t, peer.SSHDOptions{})
			o := schemes.Options{}
			o.SFTP.KnownHosts, o.SFTP.Key = []string{s.KnownHosts}, s.UserKey
			return s.Server, o, "sftp://" + peer.User + "@" + s.Addr + s.Root + "/"
		},
		"nfs": func(t *testing.T) (*peer.Server, schemes.Options, string) {
			s := peer.Ganesha(t)
			o := schemes.Options{}
			o.NFS.MountPort = s.Port + 1
			return s, o, "nfs://" + s.Addr + s.Root + "/"
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, o, url := start(t)
			for name, text := range files {
				s.Put(name, []byte(text))
			}
			check(t, newClient(t, o, s.Addr), url)
		})
	}
}

// TestArchive reads a WARC file as a file system.
func TestArchive(t *testing.T) {
	root, archive := t.TempDir(), t.TempDir()
	put(t, root)
	s := httptest.NewServer(http.FileServer(http.Dir(root)))
	defer s.Close()
	dir, err := os.OpenRoot(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	w, err := warc.NewWriter(dir, warc.Options{Name: "a.warc"})
	if err != nil {
		t.Fatal(err)
	}
	r := record.New(w, record.Options{})
	live := newClient(t, schemes.Options{}, "", r.Middleware)
	fsys := urlfs.New(t.Context(), live, s.URL+"/")
	if err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			_, err = fs.ReadFile(fsys, name)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(live.Close(), r.Err(), w.Close()); err != nil {
		t.Fatal(err)
	}
	s.Close()
	a, err := warc.Open(filepath.Join(archive, "a.warc"))
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	replay := fetch.New(fetch.Options{Policy: fetch.Typed()}, a.Schemes(schemes.All(schemes.Options{})...)...)
	defer replay.Close()
	check(t, replay, s.URL+"/")
}

// newMenuClient returns a Client for shelf URLs. It lists the entries of menus,
// and returns one byte for other URLs.
func newMenuClient(menus map[string][]fetch.Entry) *fetch.Client {
	open := func(_ context.Context, req *fetch.Request) (*fetch.Response, error) {
		path := req.URL.Path()
		if path == "/missing" {
			return nil, fetch.NotFound.Errorf("no such object")
		}
		kind := fetch.Document
		if _, ok := menus[path]; ok {
			kind = fetch.Menu
		}
		return &fetch.Response{Kind: kind, Size: 1, Body: nopCloser{strings.NewReader("x")}}, nil
	}
	menu := func(base uri.URI, _ string, _ reader) func(func(fetch.Entry, error) bool) {
		return func(yield func(fetch.Entry, error) bool) {
			for _, e := range menus[base.Path()] {
				if !yield(e, nil) {
					return
				}
			}
		}
	}
	return fetch.New(fetch.Options{Policy: fetch.Typed()}, shelf(open, menu))
}

// TestLeftOut checks the names and the types of unusual entries.
func TestLeftOut(t *testing.T) {
	at := uri.MustParse
	link := map[string]string{"link": "target"}
	client := newMenuClient(map[string][]fetch.Entry{
		"/": {
			{Name: "info", Kind: fetch.Info},
			{Name: "up", URL: at("shelf://h/"), Kind: fetch.Menu},
			{Name: "other host", URL: at("shelf://o/d/"), Kind: fetch.Menu},
			{Name: "search", URL: at("shelf://h/s"), Kind: fetch.Index},
			{Name: "session", URL: at("shelf://h/t"), Kind: fetch.Session},
			{Name: "d", URL: at("shelf://h/d/"), Kind: fetch.Menu, Size: -1},
			{Name: "loop", URL: at("shelf://h/d/"), Kind: fetch.Menu, Size: -1, Extra: link},
			{Name: "unknown", URL: at("shelf://h/d/"), Kind: fetch.Unknown, Size: -1, Extra: link},
			{Name: "same", URL: at("shelf://h/1"), Kind: fetch.Document},
			{Name: "same", URL: at("shelf://h/2"), Kind: fetch.Document},
			{Name: "same~2", URL: at("shelf://h/3"), Kind: fetch.Document},
			{Name: "a/b\\\xff", URL: at("shelf://h/4"), Kind: fetch.Document},
			{Name: "..", URL: at("shelf://h/5"), Kind: fetch.Document},
			{URL: at("shelf://h/6"), Kind: fetch.Document},
			{Name: "missing", URL: at("shelf://h/missing"), Kind: fetch.Document, Size: -1},
		},
		"/d/": {{Name: "f", URL: at("shelf://h/d/f"), Kind: fetch.Document, Size: 1}},
	})
	defer client.Close()
	fsys := urlfs.New(t.Context(), client, "shelf://h/")
	all, err := fsys.ReadDir(".")
	var got []string
	for _, e := range all {
		got = append(got, e.Type().String()[:1]+e.Name())
	}
	want := []string{"-%2E%2E", "-6", "-a%2Fb%5C%FF", "dd", "Lloop", "-missing", "-same", "-same~2", "-same~3", "Lunknown"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v\nwant %q", got, err, want)
	}
	for name, want := range map[string]error{
		"nothing": fs.ErrNotExist, "/d": fs.ErrInvalid, "d/f": nil, "loop/f": nil, "unknown/f": nil, "same/x": fs.ErrNotExist,
		"missing": fs.ErrNotExist, "missing/x": fs.ErrNotExist,
	} {
		_, err := fsys.ReadFile(name)
		if at, ok := errors.AsType[*fs.PathError](err); !errors.Is(err, want) || err != nil && (!ok || at.Path != name) {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
	}
	if _, err := urlfs.New(t.Context(), client, "no scheme").Open("."); fetch.FaultOf(err) != fetch.BadURL {
		t.Errorf("invalid URL: %v", err)
	}
	if _, err := urlfs.New(t.Context(), client, "shelf://h/1").Open("."); fetch.FaultOf(err) != fetch.Unsupported {
		t.Errorf("a document as the root: %v", err)
	}
}
