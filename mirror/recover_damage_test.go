package mirror_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/mirror"
	"github.com/anyurl/fetch/mirror/internal/frontier"
)

// edit replaces the content of a file of an archive.
func edit(t testing.TB, dir, name string, change func([]byte) []byte) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, change([]byte(content(t, path))), 0o666); err != nil {
		t.Fatal(err)
	}
}

// TestRecoverDamage recovers archives with further damage. Only damaged objects
// are retrieved again.
func TestRecoverDamage(t *testing.T) {
	if testing.Short() {
		t.Skip("creates dozens of archives")
	}
	t.Parallel()
	replace := func(old, new string) func([]byte) []byte {
		return func(b []byte) []byte { return bytes.Replace(b, []byte(old), []byte(new), 1) }
	}
	const all = "map[302:1 304:8 404:1]" // responses if no object is retrieved again
	for name, c := range map[string]struct {
		tree, warc bool
		damage     func(t *testing.T, dir string)
		lines      int64 // damaged lines of crawl.jsonl
		want       string
	}{
		"flipped byte, tree": {tree: true, lines: 1, want: "map[200:1 302:1 304:7 404:1]", damage: func(t *testing.T, dir string) {
			edit(t, dir, "crawl.jsonl", replace("/one.txt", "/ore.txt"))
		}},
		"flipped byte, WARC": {tree: true, warc: true, lines: 1, want: all, damage: func(t *testing.T, dir string) {
			edit(t, dir, "crawl.jsonl", replace("/one.txt", "/ore.txt"))
		}},
		"truncated in the last line": {tree: true, lines: 1, want: "map[200:1 302:1 304:7 404:1]", damage: func(t *testing.T, dir string) {
			edit(t, dir, "crawl.jsonl", func(b []byte) []byte { return b[:len(b)-9] })
		}},
		"second half lost, WARC": {tree: true, warc: true, want: all, damage: func(t *testing.T, dir string) {
			edit(t, dir, "crawl.jsonl", func(b []byte) []byte { return b[:bytes.IndexByte(b[len(b)/4:], '\n')+len(b)/4+1] })
		}},
		"missing file": {tree: true, want: "map[200:1 302:1 304:7 404:1]", damage: func(t *testing.T, dir string) {
			remove(t, dir, "tree/http/a.example/dated/two.txt")
		}},
		"changed file": {tree: true, want: "map[200:1 302:1 304:7 404:1]", damage: func(t *testing.T, dir string) {
			edit(t, dir, "tree/http/a.example/dated/two.txt", func([]byte) []byte { return []byte("longer than before\n") })
		}},
		"damaged record": {warc: true, want: "map[200:1 302:1 304:7 404:1]", damage: func(t *testing.T, dir string) {
			for _, e := range events(t, dir) {
				if strings.HasSuffix(e.URL, "/dated/two.txt") && e.WARC != "" {
					edit(t, dir, "warc/"+e.WARC, func(b []byte) []byte { b[e.Offset+100] ^= 1; return b })
				}
			}
		}},
		"committed file in tmp": {tree: true, want: all, damage: func(t *testing.T, dir string) {
			key := frontier.KeyOf("http://a.example/dated/two.txt")
			file := filepath.Join(dir, "tree/http/a.example/dated/two.txt")
			err := errors.Join(os.Mkdir(filepath.Join(dir, "tmp"), 0o700),
				os.Rename(file, filepath.Join(dir, "tmp", hex.EncodeToString(key[:])+".1.part")))
			if err != nil {
				t.Fatal(err)
			}
		}},
		"killed recovery": {tree: true, want: all, damage: func(t *testing.T, dir string) {
			os.Mkdir(filepath.Join(dir, "tmp"), 0o700)
			for _, name := range []string{"tmp/fetch.db", "tmp/fetch.db-wal", "fetch.db-wal", "fetch.db-shm"} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte("incomplete"), 0o666); err != nil {
					t.Fatal(err)
				}
			}
		}},
		"empty database": {tree: true, want: all, damage: func(t *testing.T, dir string) {
			if err := os.WriteFile(filepath.Join(dir, "fetch.db"), nil, 0o666); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, o := newValidatingArchive(t, c.tree, c.warc)
				s.counts()
				want := digests(tree(t, o.Dir, ""))
				remove(t, o.Dir, "fetch.db*")
				c.damage(t, o.Dir)
				checkNeedsRecovery(t, o)
				if r := recoverArchive(t, o); r.DamagedLines != c.lines {
					t.Errorf("%+v", r)
				}
				if _, err := mirror.Run(t.Context(), o); err != nil && name != "damaged record" { // its index needs a repair
					t.Error(err)
				}
				if got := s.counts(); got != c.want {
					t.Errorf("responses %s, want %s", got, c.want)
				}
				if got := digests(tree(t, o.Dir, "")); got != want {
					t.Errorf("the tree differs:\n%s", differ(got, want))
				}
				if name != "damaged record" {
					checkVerify(t, o.Dir)
				}
			})
		})
	}
}

// TestRecoverPending loses the database of an incomplete run. The next run
// retrieves all URLs, also on a server that could not be reached.
func TestRecoverPending(t *testing.T) {
	t.Parallel()
	for _, lost := range []string{"fetch.db*", "{fetch.db*,crawl.jsonl}"} {
		synctest.Test(t, func(t *testing.T) {
			w := newNetwork(t)
			s := newValidatingSite()
			s.webSite["/"] += `<a href="http://b.example/x">`
			w.web("a.example", s)
			w.web("b.example", webSite{"/x": "x\n"})
			o := w.options("http://a.example/")
			o.Scope.Reach = mirror.Any
			w.fall(w.name("b.example"))
			o.Limits.Files = 5
			if _, err := mirror.Run(t.Context(), o); !errors.Is(err, mirror.ErrLimit) {
				t.Fatal(err)
			}
			for _, name := range strings.Split(strings.Trim(lost, "{}"), ",") {
				remove(t, o.Dir, name)
			}
			recoverArchive(t, o)
			w.rise(w.name("b.example"))
			time.Sleep(time.Hour)
			o.Limits.Files = 0
			run(t, o)
			if got := outcomes(t, o.Dir); strings.Count(got, "done ") != 10 || !strings.Contains(got, "done http://b.example/x") {
				t.Errorf("outcomes:\n%s", got)
			}
			checkVerify(t, o.Dir)
		})
	}
}

// TestRecoverHostile recovers archives with a forged crawl.jsonl. Its lines can
// neither name a file outside the tree nor give one file to two URLs.
func TestRecoverHostile(t *testing.T) {
	t.Parallel()
	const tail = `,"run":1,"time":"2026-01-01T00:00:00Z","ms":0,"size":2,"sha256":"` +
		`2689367b205c16ce32ed4200942b8b8b1e262dfc70d9bc9fbc77c49699a4f1df","state":"done"}`
	for name, c := range map[string]struct {
		lines   string
		damaged int64
		paths   string // URLs and paths in the new database
	}{
		"a file outside the tree":    {`{"url":"http://a.example/x","path":"../ok"` + tail, 1, ""},
		"an absolute path":           {`{"url":"http://a.example/x","path":"/etc/passwd"` + tail, 1, ""},
		"a WARC file elsewhere":      {`{"url":"http://a.example/x","warc":"../x.warc.gz"` + tail, 1, ""},
		"another file as WARC file":  {`{"url":"http://a.example/x","warc":"crawl.jsonl"` + tail, 1, ""},
		"a path with 10,000 folders": {`{"url":"http://a.example/x","path":"A` + strings.Repeat("/a", 10_000) + `"` + tail, 1, ""},
		"no URL":                     {`{"url":"x","path":"ok"` + tail, 1, ""},
		"a URL with a password":      {`{"url":"http://u:p@a.example/x","path":"ok"` + tail, 1, ""},
		"not canonical":              {`{"url":"HTTP://a.example/x","path":"ok"` + tail, 1, ""},
		"the number of a run":        {`{"url":"http://a.example/x","path":"ok"` + strings.Replace(tail, `"run":1`, `"run":9223372036854775807`, 1), 1, ""},
		"a digest that is too short": {`{"url":"http://a.example/x","path":"ok"` + strings.Replace(tail, `"2689`, `"`, 1), 1, ""},
		"an unknown state":           {`{"url":"http://a.example/x","path":"ok"` + strings.Replace(tail, "done", "over", 1), 0, ""},
		"one file of two URLs": {`{"url":"http://a.example/x","path":"ok"` + tail + "\n" + `{"url":"http://a.example/y","path":"OK"` + tail, 0,
			"http://a.example/x ok, http://a.example/y "},
		"a file in a file": {`{"url":"http://a.example/x","path":"ok"` + tail + "\n" + `{"url":"http://a.example/y","path":"ok/y"` + tail, 0,
			"http://a.example/x ok, http://a.example/y "},
	} {
		o := mirror.Options{Dir: t.TempDir(), Client: client(t)}
		err := errors.Join(os.Mkdir(filepath.Join(o.Dir, "tree"), 0o777),
			os.WriteFile(filepath.Join(o.Dir, "tree/ok"), []byte("ok"), 0o666),
			os.WriteFile(filepath.Join(o.Dir, "crawl.jsonl"), []byte(c.lines+"\n"), 0o666))
		if err != nil {
			t.Fatal(err)
		}
		if r := recoverArchive(t, o); r.DamagedLines != c.damaged {
			t.Errorf("%s: %+v", name, r)
		}
		var paths []string
		for l, err := range mirror.Open(mirror.Location{Dir: o.Dir}).Dump(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			paths = append(paths, l.URL+" "+l.Path)
		}
		if got := strings.Join(paths, ", "); got != c.paths {
			t.Errorf("%s: got %q, want %q", name, got, c.paths)
		}
	}
}

// TestRecoverEmptyRecords checks an archive whose last run was killed right after
// it had created its WARC file. The next run removes the empty file, which is no
// damage.
func TestRecoverEmptyRecords(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newNetwork(t)
		w.web("a.example", webSite{"/": "text"})
		o := w.options("http://a.example/")
		o.Tree = true
		run(t, o)
		const name = "warc/fetch-20300101000000-00000-vm.warc.gz.open"
		if err := os.WriteFile(filepath.Join(o.Dir, name), nil, 0o666); err != nil {
			t.Fatal(err)
		}
		remove(t, o.Dir, "fetch.db*")
		recoverArchive(t, o)
		run(t, o)
		checkVerify(t, o.Dir)
		if _, err := os.Stat(filepath.Join(o.Dir, name)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the empty file: %v", err)
		}
	})
}
