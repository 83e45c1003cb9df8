//go:build linux

package mirrorcmd_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/cmd/fetch/internal/commandtest"
	"github.com/anyurl/fetch/internal/test/peer"
)

// TestFrontierCopy kills a mirror with its own database, copies the crawl to
// PostgreSQL and continues it with two workers. Each URL must be retrieved once.
// The next run must send conditional requests only.
func TestFrontierCopy(t *testing.T) {
	c := newSharedCrawl(t, 10, 40)
	total := c.hosts * c.pages
	first := c.workers[0]
	shared := first.command
	killed := c.eventAt(total/2, first.kill)
	first.command = func() *exec.Cmd { // without a shared frontier
		cmd := shared()
		cmd.Args = append(cmd.Args, "--warc", "--no-tree", "--warc-prefix", first.name)
		cmd.Env = nil
		for _, name := range []string{"--worker", "--store"} {
			i := slices.Index(cmd.Args, name)
			cmd.Args = slices.Delete(cmd.Args, i, i+2)
		}
		return cmd
	}
	first.cmd = first.command()
	if err := first.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	(<-killed)()
	if err := first.cmd.Wait(); err == nil {
		t.Fatal("the mirror was not killed")
	}
	before := c.record().served

	copied := commandtest.Exec(t, c.command("frontier", "copy", "--from", first.dir, "--worker", first.name, "--store", "file://"+c.stored))
	if copied.Code != 0 || !strings.Contains(copied.Stderr, "copied: ") {
		t.Fatalf("copy: %v", copied)
	}
	t.Log(copied.Stderr)
	if names, _ := filepath.Glob(filepath.Join(first.dir, "fetch.db*")); fmt.Sprint(names) != "["+filepath.Join(first.dir, "fetch.db.copied")+"]" {
		t.Errorf("files %q", names)
	}
	for name, refused := range map[string]struct {
		command *exec.Cmd
		stderr  string
	}{
		"second copy":    {c.command("frontier", "copy", "--from", first.dir), "belongs to the worker w0 of a crawl with a shared frontier"},
		"own frontier":   {exec.Command(c.fetch, "mirror", "--output-dir", first.dir, c.url(0, 0)), "belongs to the worker w0 of a crawl"},
		"another worker": {c.command("mirror", "--output-dir", first.dir, "--worker", "other", "--store", c.store), "belongs to the worker w0, not to other"},
	} {
		if e := commandtest.Exec(t, refused.command); e.Code != 2 || !strings.Contains(e.Stderr, refused.stderr) {
			t.Errorf("%s: %v", name, e)
		}
	}

	first.command = shared
	c.workers = c.workers[:2]
	failed := func(w *sharedWorker, out string, err error) {
		if err != nil {
			t.Errorf("worker %s: %v: %s", w.name, err, out)
		}
	}
	c.run(nil, failed)
	c.check(t)
	t.Logf("%d requests before the copy, %d after it", before, c.record().served-before)
	c.checkPoliteness(t)
	second := c.record().served
	for _, w := range c.workers {
		without := w.command
		w.command = func() *exec.Cmd {
			cmd := without()
			cmd.Args = append(cmd.Args, "--again")
			return cmd
		}
	}
	c.run(nil, failed)
	after := c.record()
	if got := after.served - second; after.notMod < total || got != after.notMod {
		t.Errorf("%d of %d requests of the second run were conditional, want %d", after.notMod, got, total)
	}
}

// A copySource is a finished crawl of local files, without a tree.
type copySource struct {
	*sharedCrawl
	urls string // URLs of the crawl, as in the status
	dir  string
}

func newCopySource(t *testing.T) *copySource {
	c := &copySource{sharedCrawl: &sharedCrawl{fetch: commandtest.Fetch(t), db: peer.Postgres(t, false)}, dir: filepath.Join(t.TempDir(), "source")}
	site := t.TempDir()
	for n := range 200 {
		if err := os.WriteFile(filepath.Join(site, fmt.Sprint(n)), fmt.Append(nil, n), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	c.urls = `"urls": 201,`
	c.must(t, exec.Command(c.fetch, "mirror", "--warc", "--no-tree", "--output-dir", c.dir, "file://"+site+"/"))
	return c
}

// must runs a command, which must succeed, and returns its standard output.
func (c *copySource) must(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	e := commandtest.Exec(t, cmd)
	if e.Code != 0 {
		t.Fatalf("%q: %v", cmd.Args[1:], e)
	}
	return e.Stdout
}

// archive returns a copy of the archive, and selects a new PostgreSQL schema.
func (c *copySource) archive(t *testing.T, schema string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "archive")
	if err := os.CopyFS(dir, os.DirFS(c.dir)); err != nil {
		t.Fatal(err)
	}
	c.dsn = fmt.Sprintf("postgres://postgres@%s/postgres?search_path=%s", c.db.Addr, schema)
	return dir
}

// checkCopied checks that the crawl is in PostgreSQL and that the directory
// belongs to the worker w.
func (c *copySource) checkCopied(t *testing.T, dir string) {
	t.Helper()
	if status := c.must(t, c.command("frontier", "status")); !strings.Contains(status, c.urls) || !strings.Contains(status, `"name": "w"`) {
		t.Errorf("status %s", status)
	}
	if names, _ := filepath.Glob(filepath.Join(dir, "fetch.db*")); len(names) != 1 || filepath.Base(names[0]) != "fetch.db.copied" {
		t.Errorf("files %q", names)
	}
	c.must(t, c.command("mirror", "--silent", "--worker", "w", "--output-dir", dir))
}

// TestFrontierCopyKilled kills copies at random times. Another copy must complete
// them.
func TestFrontierCopyKilled(t *testing.T) {
	c := newCopySource(t)
	began := time.Now()
	dir := c.archive(t, "sound")
	c.must(t, c.command("frontier", "copy", "--from", dir, "--worker", "w"))
	c.checkCopied(t, dir)
	whole := time.Since(began)
	for n := range 5 {
		dir := c.archive(t, fmt.Sprint("killed", n))
		killed := c.command("frontier", "copy", "--from", dir, "--worker", "w")
		if err := killed.Start(); err != nil {
			t.Fatal(err)
		}
		timer := time.AfterFunc(rand.N(whole), func() { killed.Process.Kill() })
		err := killed.Wait()
		timer.Stop()
		if err != nil {
			e := commandtest.Exec(t, c.command("frontier", "copy", "--from", dir, "--worker", "w"))
			complete := strings.Contains(e.Stderr, "belongs to the worker w of a crawl") // killed just before its end
			if e.Code != 0 && !complete {
				t.Fatalf("%v", e)
			}
		}
		c.checkCopied(t, dir)
	}
}

// TestFrontierCopyRefused checks the states of a directory and of a schema in
// which a copy is refused or completed.
func TestFrontierCopyRefused(t *testing.T) {
	c := newCopySource(t)
	file := func(dir, name, text string) {
		t.Helper()
		name = filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o777), os.WriteFile(name, []byte(text), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	for name, refused := range map[string]struct {
		prepare   func(dir string)
		code      int
		stderr    string
		unchanged bool // if true, the directory must still be an archive with its own database
	}{
		"tree":              {func(dir string) { file(dir, "tree/x", "") }, 2, "move tree/ to another directory first", false},
		"no archive":        {func(dir string) { os.RemoveAll(dir); os.Mkdir(dir, 0o777) }, 3, "it has no fetch.db", false},
		"missing directory": {func(dir string) { os.RemoveAll(dir) }, 3, "no such file", false},
		"worker": {func(dir string) {
			file(dir, "worker.json", `{"worker":"x","folder":"y"}`)
			os.Remove(filepath.Join(dir, "fetch.db"))
		}, 2, "belongs to the worker x", false},
		"identity without a crawl": {func(dir string) { file(dir, "worker.json", `{"worker":"w","folder":"y"}`) }, 0, "copied: ", false},
		"damaged identity":         {func(dir string) { file(dir, "worker.json", "{") }, 3, "worker.json of ", false},
		"missing records": {func(dir string) {
			files, _ := filepath.Glob(filepath.Join(dir, "warc", "*"))
			os.Remove(files[0])
		}, 3, "too many WARC records are missing", false},
		"used schema": {func(dir string) {
			c.must(t, c.command("mirror", "--silent", "--output-dir", filepath.Join(t.TempDir(), "other"), "--worker", "o", "file://"+c.dir+"/report.txt"))
		}, 2, "the schema already contains a crawl", true},
		"wrong login": {func(string) { c.dsn = strings.Replace(c.dsn, "postgres@", "nobody@", 1) }, 3, "user=nobody database=postgres`: 127.0.0.1:", true},
	} {
		t.Run(name, func(t *testing.T) {
			dir := c.archive(t, strings.ReplaceAll("refused "+name, " ", "_"))
			refused.prepare(dir)
			e := commandtest.Exec(t, c.command("frontier", "copy", "--from", dir, "--worker", "w"))
			if e.Code != refused.code || !strings.Contains(e.Stderr, refused.stderr) {
				t.Fatalf("%v", e)
			}
			if _, err := os.Stat(filepath.Join(dir, "fetch.db")); refused.unchanged {
				if _, err2 := os.Stat(filepath.Join(dir, "worker.json")); err != nil || err2 == nil {
					t.Errorf("the directory has changed: %v, %v", err, err2)
				}
				c.must(t, exec.Command(c.fetch, "verify", dir))
			}
		})
	}
	t.Run("interrupted after the transaction", func(t *testing.T) {
		dir := c.archive(t, "committed")
		c.must(t, c.command("frontier", "copy", "--from", dir, "--worker", "w"))
		if err := os.Rename(filepath.Join(dir, "fetch.db.copied"), filepath.Join(dir, "fetch.db")); err != nil {
			t.Fatal(err)
		}
		for _, cmd := range []*exec.Cmd{
			c.command("mirror", "--worker", "w", "--output-dir", dir),
			exec.Command(c.fetch, "mirror", "--warc", "--no-tree", "--output-dir", dir, "file://"+c.dir+"/"),
		} {
			if e := commandtest.Exec(t, cmd); e.Code != 2 || !strings.Contains(e.Stderr, "was interrupted: run it again") {
				t.Errorf("%v", e)
			}
		}
		c.must(t, c.command("frontier", "copy", "--from", dir, "--worker", "w"))
		c.checkCopied(t, dir)
	})
}
