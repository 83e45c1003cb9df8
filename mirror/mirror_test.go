package mirror_test

import (
	"bufio"
	"context"
	"crypto/sha1"
	"encoding/base32"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/mirror"
	"github.com/anyurl/fetch/schemes"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/warc"
	"github.com/anyurl/fetch/wrap"
)

// options returns the options of a mirror of urls in a new folder.
func options(t testing.TB, urls ...string) mirror.Options {
	o := mirror.Options{Dir: t.TempDir(), Tree: true, PerHost: 2, WARC: &mirror.WARC{Prefix: "test"}}
	for _, u := range urls {
		o.Seeds = append(o.Seeds, uri.MustParse(u))
	}
	o.Client = client(t)
	return o
}

func client(t testing.TB) *fetch.Client {
	c := fetch.New(fetch.Options{
		Policy: fetch.Typed(),
		Wrap:   []fetch.Middleware{wrap.Retry(wrap.RetryOptions{Attempts: 2, Delay: 10 * time.Millisecond})},
	}, schemes.All(schemes.Options{})...)
	t.Cleanup(func() { c.Close() })
	return c
}

func run(t testing.TB, o mirror.Options) mirror.Summary {
	t.Helper()
	sum, err := mirror.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

// tree returns the contents of the files in the tree whose paths start with
// prefix.
func tree(t testing.TB, dir, prefix string) map[string]string {
	t.Helper()
	return filesBelow(t, filepath.Join(dir, "tree", filepath.FromSlash(prefix)))
}

// filesBelow returns the contents of the files below the directory root.
func filesBelow(t testing.TB, root string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(name)
		rel, _ := filepath.Rel(root, name)
		files[filepath.ToSlash(rel)] = string(text)
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return files
}

// events returns the lines of crawl.jsonl.
func events(t testing.TB, dir string) (all []mirror.Event) {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, "crawl.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var e mirror.Event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}

// TestServers mirrors real servers three times: at first, then without a
// change, and then after a change.
func TestServers(t *testing.T) {
	t.Parallel()
	for name, start := range sites {
		if name == "nntp" {
			continue // its objects never change
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t)
			o := options(t, s.urls...)
			if sum := run(t, o); sum.Failed > 0 || sum.New < int64(len(source)) || sum.Pending != 0 {
				t.Errorf("%+v", sum)
			}
			want := checkTree(t, o.Dir)
			checkRecords(t, o.Dir)
			if sum := run(t, o); sum.New != 0 || sum.Gone != 0 {
				t.Errorf("again: %+v", sum)
			}
			if got := checkTree(t, o.Dir); got != want {
				t.Errorf("unchanged objects were rewritten: %s", got)
			}
			s.Put("pub/one.txt", []byte("the first, changed\n"))
			if sum := run(t, o); sum.New < 1 || sum.New > 2 { // with the listing
				t.Errorf("after a change: %+v", sum)
			}
		})
	}
}

// checkTree checks that the tree contains each file of source exactly once, and
// returns a digest of all files.
func checkTree(t *testing.T, dir string) string {
	t.Helper()
	files := tree(t, dir, "")
	for name, text := range source {
		n := 0
		for path, got := range files {
			if strings.HasSuffix(path, name) {
				n++
				if got != text {
					t.Errorf("%s has %d bytes, want %d", path, len(got), len(text))
				}
			}
		}
		if n != 1 {
			t.Errorf("%s exists %d times", name, n)
		}
	}
	return digests(files)
}

// checkRecords checks that the WARC files contain each file of source.
func checkRecords(t *testing.T, dir string) {
	t.Helper()
	digests := map[string]string{}
	for _, name := range warcs(t, dir) {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for l, err := range warc.Lines(name, f) {
			if err != nil {
				t.Fatal(err)
			}
			digests[l.URL] += l.Digest
		}
	}
	for name, text := range source {
		sum := sha1.Sum([]byte(text))
		want := base32.StdEncoding.EncodeToString(sum[:])
		n := 0
		for u, digest := range digests {
			if strings.HasSuffix(u, name) && digest == want {
				n++
			}
		}
		if n != 1 {
			t.Errorf("%s is recorded %d times", name, n)
		}
	}
}

// TestTwoProcesses checks that only one process at a time can run on an
// archive.
func TestTwoProcesses(t *testing.T) {
	t.Parallel()
	s := peer.Nginx(t, peer.NginxOptions{})
	o := options(t, "http://"+s.Addr+"/x")
	var second error
	o.Event = func(mirror.Event) {
		inner := o
		inner.Event = nil
		_, second = mirror.Run(context.Background(), inner)
	}
	s.Put("x", []byte("x"))
	run(t, o)
	if !errors.Is(second, fetch.InUse) {
		t.Errorf("second process: %v", second)
	}
}

// TestDamagedDatabase checks that Verify reports a damaged database, and that a
// run fails with a local error.
func TestDamagedDatabase(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func([]byte) []byte{
		"pages":        func(b []byte) []byte { clear(b[4096:]); return b },
		"another file": func([]byte) []byte { return []byte(strings.Repeat("no database\n", 1000)) },
	} {
		o := options(t, sites["file"](t).urls...)
		run(t, o)
		db := filepath.Join(o.Dir, "fetch.db")
		b, err := os.ReadFile(db)
		if err == nil {
			err = os.WriteFile(db, spoil(b), 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
		var found []string
		for f, err := range mirror.Open(mirror.Location{Dir: o.Dir}).Verify(t.Context()) {
			if err != nil {
				t.Errorf("%s: verify: %v", name, err)
			}
			found = append(found, f.Path)
		}
		if strings.Join(found, " ") != "fetch.db" {
			t.Errorf("%s: verify found %q", name, found)
		}
		if _, err := mirror.Run(t.Context(), o); fetch.FaultOf(err) != fetch.Local {
			t.Errorf("%s: run: %v", name, err)
		}
	}
}

// TestDerived checks that Verify reports a wrong index or manifest, and that
// the next run repairs it. After an interrupted run, such differences are
// ignored.
func TestDerived(t *testing.T) {
	t.Parallel()
	o := options(t, sites["file"](t).urls...)
	run(t, o)
	for _, name := range []string{"index/all.cdxj", "manifest-sha256.txt"} {
		path := filepath.Join(o.Dir, name)
		whole := content(t, path)
		for odd, text := range map[string]string{"cut": whole[:len(whole)/2], "changed": strings.Replace(whole, "0", "1", 1), "empty": ""} {
			if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
			var found []string
			for f, err := range mirror.Open(mirror.Location{Dir: o.Dir}).Verify(t.Context()) {
				if err != nil || f.Note {
					t.Errorf("%s %s: %v %v", name, odd, f, err)
				}
				found = append(found, f.Path)
			}
			if strings.Join(found, " ") != name {
				t.Errorf("%s %s: verify found %q", name, odd, found)
			}
		}
		run(t, o)
		checkVerify(t, o.Dir)
	}
}

// TestTreeRequired checks that a run without the tree is rejected before any
// request if the archive has a tree.
func TestTreeRequired(t *testing.T) {
	t.Parallel()
	o := options(t, sites["file"](t).urls...)
	run(t, o)
	o.Tree = false
	if _, err := mirror.Run(t.Context(), o); fetch.FaultOf(err) != fetch.Usage {
		t.Errorf("records alone: %v", err)
	}
	checkVerify(t, o.Dir)
	o.Tree = true
	run(t, o)
	checkVerify(t, o.Dir)
}
