//go:build linux

package mirrorcmd_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/anyurl/fetch/cmd/fetch/internal/commandtest"
	"github.com/anyurl/fetch/internal/test/peer"
)

// check checks that the files of the crawl in the store are intact and contain
// each page exactly once.
func (c *sharedCrawl) check(t *testing.T) {
	t.Helper()
	captured := map[string]int{}
	page := regexp.MustCompile(`"url":"(http://[0-9.:]+/[0-9]+)"`)
	e := commandtest.Exec(t, exec.Command(c.fetch, append([]string{"index"}, c.verify(t)...)...))
	if e.Code != 0 {
		t.Errorf("index: %v", e)
	}
	for _, line := range strings.Split(string(e.Stdout), "\n") {
		if m := page.FindStringSubmatch(line); m != nil {
			captured[m[1]]++
		}
	}
	c.checkPages(t, "the index", captured)
}

// verifyCommand returns the command that checks the files of the crawl in the
// store.
func (c *sharedCrawl) verifyCommand() *exec.Cmd {
	return c.command("verify", "--frontier", c.dsn, "--store", c.store)
}

// verify checks the files of the crawl in the store. It returns the paths of the
// files that belong to the crawl.
func (c *sharedCrawl) verify(t *testing.T) []string {
	t.Helper()
	e := commandtest.Exec(t, c.verifyCommand())
	if e.Code != 0 {
		t.Errorf("verify: %v: %s", e, e.Stdout)
	}
	files, _ := filepath.Glob(filepath.Join(c.stored, "*.warc.gz"))
	return slices.DeleteFunc(files, func(name string) bool { // objects of an abandoned worker
		return strings.Contains(e.Stdout, filepath.Base(name)+": note: the database does not record the object")
	})
}

// checkPages checks that each page has one record. The map captured contains the
// number of records that the program by found, by URL.
func (c *sharedCrawl) checkPages(t *testing.T, by string, captured map[string]int) {
	t.Helper()
	for host := range c.hosts {
		for n := range c.pages {
			if count := captured[c.url(host, n)]; count != 1 {
				t.Errorf("%s has %d records in %s", c.url(host, n), count, by)
			}
		}
	}
	if t.Failed() {
		t.Logf("%d URLs with records in %s", len(captured), by)
	}
}

// checkWarcio checks that warcio finds one response or revisit record of each
// page. Warcio prints no error for a truncated file, but lacks its last records.
func (c *sharedCrawl) checkWarcio(t *testing.T) {
	t.Helper()
	node, cli := peer.NeedModule(t, "warcio@2.4.11", "warcio", "dist/cli.js")
	e := commandtest.Exec(t, exec.Command(node, append([]string{cli, "index"}, c.verify(t)...)...))
	if e.Code != 0 || e.Stderr != "" { // warcio prints warnings to standard error
		t.Errorf("warcio: %v", e)
	}
	captured := map[string]int{}
	for line := range strings.Lines(e.Stdout) {
		var r struct {
			Type string `json:"warc-type"`
			URL  string `json:"warc-target-uri"`
		}
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("warcio: %v: %s", err, line)
		}
		if r.Type == "response" || r.Type == "revisit" {
			captured[r.URL]++
		}
	}
	c.checkPages(t, "warcio", captured)
}

// checkLogs checks that the files crawl.jsonl of all workers together have one
// line of each page.
func (c *sharedCrawl) checkLogs(t *testing.T) {
	t.Helper()
	lines := map[string]int{}
	for _, w := range c.workers {
		text, err := os.ReadFile(filepath.Join(w.dir, "crawl.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			var e struct{ URL, State string }
			if err := json.Unmarshal([]byte(line), &e); err != nil {
				t.Fatalf("crawl.jsonl: %v: %s", err, line)
			}
			if e.State == "done" {
				lines[e.URL]++
			}
		}
	}
	c.checkPages(t, "crawl.jsonl", lines)
}
