//go:build linux

package main_test

import (
	"path/filepath"
	"strings"
	"testing"
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
		if e := run(t, c.command(args...)); e.code != step.code || !strings.Contains(e.stderr, step.stderr) {
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
		if e := run(t, c.command("frontier", "dump", "--state", "excluded")); e.code != 0 || e.stdout != "" {
			t.Errorf("%s: excluded: %v: %s", step.name, e, e.stdout)
		}
		if step.code == 10 {
			run(t, c.command("frontier", "limit", "--max-files", "0"))
		}
	}
}
