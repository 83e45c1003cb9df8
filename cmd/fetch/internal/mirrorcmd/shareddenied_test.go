//go:build linux

package mirrorcmd_test

import (
	"crypto/sha256"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anyurl/fetch/cmd/fetch/internal/commandtest"
	"github.com/jackc/pgx/v5"
)

// TestDeniedHosts checks that workers whose commands do not contain the URL of
// a private host leave the pending URLs of this host to other workers.
func TestDeniedHosts(t *testing.T) {
	t.Parallel()
	c := newSharedCrawl(t, 2, 20)
	c.set(func() { c.robots = "User-agent: *\n" }) // a missing robots.txt would be an excluded URL
	dir := t.TempDir()
	first, other := c.url(0, 0), c.url(1, 0)
	for _, step := range []struct {
		name    string
		args    []string
		code    int
		stderr  string
		visited [2]int // pages of each host that were visited so far; -1 means any number
	}{
		{"first worker", []string{"--worker", "a", "--max-files", "5", first}, 10, "fetch frontier limit raises them", [2]int{-1, 0}},
		{"no URLs", []string{"--worker", "b"}, 9, "contains this URL: " + first, [2]int{-1, 0}},
		{"no URLs again", []string{"--worker", "b"}, 9, "the policy denies all hosts that have pending URLs", [2]int{-1, 0}},
		{"another host", []string{"--worker", "c", other}, 9, "contains this URL: " + first, [2]int{-1, 20}},
		{"first worker again", []string{"--worker", "a", first}, 0, "", [2]int{20, 20}},
		{"next run without URLs", []string{"--worker", "b", "--again"}, 9, "contains this URL: ", [2]int{20, 20}},
		{"next run", []string{"--worker", "a", first, other}, 0, "", [2]int{20, 20}},
	} {
		args := append([]string{"mirror", "--output-dir", filepath.Join(dir, step.args[1]), "--scope", "host", "--delay", "0"}, step.args...)
		if e := commandtest.Exec(t, c.command(args...)); e.Code != step.code || !strings.Contains(e.Stderr, step.stderr) {
			t.Errorf("%s: %v", step.name, e)
		}
		visits := c.record().visits
		for host, want := range step.visited {
			pages := 0
			for n := range c.pages {
				if visits[c.url(host, n)] > 0 {
					pages++
				}
			}
			if want >= 0 && pages != want {
				t.Errorf("%s: %d pages of host %d were visited, want %d", step.name, pages, host, want)
			}
		}
		if e := commandtest.Exec(t, c.command("frontier", "dump", "--state", "excluded")); e.Code != 0 || e.Stdout != "" {
			t.Errorf("%s: excluded: %v: %s", step.name, e, e.Stdout)
		}
		if step.code == 10 {
			commandtest.Exec(t, c.command("frontier", "limit", "--max-files", "0"))
		}
	}
}

// TestDeniedRow checks that a row whose URL the policy denies does not keep a
// worker from the other URLs of the same host, also if another program has
// written the row to the database.
func TestDeniedRow(t *testing.T) {
	t.Parallel()
	const seeds, pages = 2, 20
	c := newSharedCrawl(t, seeds, pages)
	c.set(func() { c.robots = "User-agent: *\n" })
	args := []string{
		"mirror", "--output-dir", filepath.Join(t.TempDir(), "a"), "--scope", "host", "--delay", "0",
		"--max-files", "5", c.url(0, 0), c.url(1, 0),
	}
	if e := commandtest.Exec(t, c.command(args...)); e.Code != 10 {
		t.Fatalf("first run: %v", e)
	}
	db, err := pgx.Connect(t.Context(), c.dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close(t.Context())
	for n, at := range []string{"http://127.7.0.1:1/", "http://127.9.9.9/", "http://127.7.0.1:22/"} {
		key := sha256.Sum256([]byte(at)) // the first 16 bytes are the key of the URL
		_, err := db.Exec(t.Context(), `insert into url (id, key, state, run, host, prio, depth, url)
			select nextval('url_id'), $1, 0, 1, id, $2, 1, $3 from host where name = $4`, key[:16], -5, []byte(at), "127.7.0."+string('1'+rune(n%seeds)))
		if err == nil {
			_, err = db.Exec(t.Context(), "update tally set pending = pending + 1, urls = urls + 1 where slot = 0")
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	commandtest.Exec(t, c.command("frontier", "limit", "--max-files", "0"))
	args[8] = "0"
	if e := commandtest.Exec(t, c.command(args...)); e.Code != 9 || !strings.Contains(e.Stderr, "contains this URL") {
		t.Errorf("second run: %v", e)
	}
	visits := c.record().visits
	for host := range seeds {
		for n := range pages {
			if visits[c.url(host, n)] == 0 {
				t.Errorf("%s was not visited", c.url(host, n))
			}
		}
	}
}
