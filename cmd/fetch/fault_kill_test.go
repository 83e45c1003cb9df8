//go:build linux

package main_test

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"syscall"
	"testing"
	"time"
)

// whole reports whether the file at path is what it was or one of the bodies
// of s, and nothing between.
func (s *site) whole(t *testing.T, path, before string, objects ...string) bool {
	t.Helper()
	held := content(t, path)
	return held == before || slices.ContainsFunc(objects, func(o string) bool { return held == string(s.body(o)) })
}

// killedAtCalls: at whatever system call on the file, its part, its state or
// its folder a process is killed, the file is what it was or whole, and the
// next attempt finds its way: no lock is left, and no byte is taken for what
// it is not.
func killedAtCalls(t *testing.T, l *lab) {
	s := serve(t)
	for _, resume := range []bool{false, true} {
		object := "/1000000"
		if resume {
			object = "/9000000" // there is a checkpoint in it
		}
		dir := open(t)
		out := filepath.Join(dir, "out")
		args := []string{"-q", "-o", out, s.URL + object}
		before := "old"
		if resume {
			before, args = "", append(args, "-C", "-")
		}
		reset := func() {
			clearFolder(t, dir)
			if before != "" {
				put(t, out, before)
			}
		}
		options := []string{"-P", dir}
		for _, name := range []string{"", "out", ".out.part", ".out.part.new", ".out.part.state"} {
			options = append(options, "-P", dir+"/"+name)
		}
		reset()
		e, log := l.strace(t, options, args...)
		if e.code != 0 {
			t.Fatal(e)
		}
		calls := map[string]int{}
		for _, line := range log {
			if m := regexp.MustCompile(`^\d+ +([a-z0-9_]+)\(`).FindStringSubmatch(line); m != nil {
				calls[m[1]]++
			}
		}
		killed := 0
		for call, count := range calls {
			for nth := 1; nth <= count; nth += max(1, count/l.calls) {
				name := fmt.Sprintf("resumable %v, killed at %s number %d", resume, call, nth)
				reset()
				e, _ := l.strace(t, slices.Concat(options, []string{"-e", fmt.Sprintf("inject=%s:signal=KILL:when=%d", call, nth)}), args...)
				if e.code == 128+int(syscall.SIGKILL) {
					killed++
				} else if e.code != 0 { // calls are counted in each thread, which may make fewer
					t.Errorf("%s: %v", name, e)
				}
				if !s.whole(t, out, before, object) {
					t.Errorf("%s: the file holds %d bytes", name, len(content(t, out)))
				}
				if e := l.run(t, args...); e.code != 0 || !s.whole(t, out, object, object) || names(t, dir) != "out" {
					t.Errorf("%s, the next attempt: %v, %d bytes, %s", name, e, len(content(t, out)), names(t, dir))
				}
			}
		}
		t.Logf("resumable %v: killed %d times at %v", resume, killed, calls)
		if killed < 10 {
			t.Errorf("killed only %d times", killed)
		}
	}
}

// killedAtRandom: the same at any time, for two objects of one length that
// take turns at one file.
func killedAtRandom(t *testing.T, l *lab) {
	s := serve(t)
	dir := open(t)
	out := filepath.Join(dir, "out")
	objects := []string{"/10000000", "/x10000000"}
	put(t, out, "old")
	killed, parts := 0, 0
	for range l.kills {
		args := []string{"-q", "-o", out, s.URL + objects[rand.IntN(2)]}
		if rand.IntN(2) == 0 && content(t, out) != "old" {
			clearFolder(t, dir)
		}
		if content(t, out) == "" { // else it would be continued
			args = append(args, "-C", "-")
		}
		before := content(t, out)
		p := start(t, exec.Command(l.fetch, args...))
		timer := time.AfterFunc(time.Duration(rand.Int64N(int64(40*time.Millisecond))), func() { p.Process.Kill() })
		e := p.wait(t)
		timer.Stop()
		if e.code == 128+int(syscall.SIGKILL) {
			killed++
		} else if e.code != 0 {
			t.Errorf("%q: %v", args, e)
		}
		if !s.whole(t, out, before, objects...) {
			t.Fatalf("%q: the file holds %d bytes", args, len(content(t, out)))
		}
		if names(t, dir) != "out" {
			parts++
		}
		// What is left is of one of both objects, and may be asked for again.
		next := objects[rand.IntN(2)]
		args = []string{"-q", "-o", out, s.URL + next}
		if before == "" && content(t, out) == "" {
			args = append(args, "-C", "-")
		}
		if e := l.run(t, args...); e.code != 0 || content(t, out) != string(s.body(next)) || names(t, dir) != "out" {
			t.Fatalf("%q, the next attempt: %v, %d bytes, %s", args, e, len(content(t, out)), names(t, dir))
		}
	}
	t.Logf("%d of %d were killed, %d left a part", killed, l.kills, parts)
	if killed < l.kills/4 || parts == 0 {
		t.Errorf("%d of %d were killed, %d left a part: too few to tell anything", killed, l.kills, parts)
	}
}
