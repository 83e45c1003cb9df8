//go:build linux

package faulttest

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

	"github.com/anyurl/fetch/cmd/fetch/internal/commandtest"
)

// holdsBody reports whether the contents of the file at path are equal to
// before or to the body of one of the objects.
func (s *site) holdsBody(t *testing.T, path, before string, objects ...string) bool {
	t.Helper()
	contents := commandtest.Content(t, path)
	return contents == before || slices.ContainsFunc(objects,
		func(o string) bool { return contents == string(s.body(o)) })
}

// killedAtCalls kills fetch at each system call on the output file, the partial
// file, the state file or the folder. The output file must be unchanged or
// complete, and the next attempt must succeed. This proves that no lock and no
// corrupt partial file remains.
func killedAtCalls(t *testing.T, l *lab) {
	s := serve(t)
	for _, resume := range []bool{false, true} {
		object := "/1000000"
		if resume {
			object = "/9000000" // large enough for a checkpoint
		}
		dir := commandtest.Folder(t)
		out := filepath.Join(dir, "out")
		args := []string{"-q", "-o", out, s.URL + object}
		before := "old"
		if resume {
			before, args = "", append(args, "-C", "-")
		}
		reset := func() {
			clearFolder(t, dir)
			if before != "" {
				commandtest.Put(t, out, before)
			}
		}
		options := []string{"-P", dir}
		for _, name := range []string{"", "out", ".out.part", ".out.part.new", ".out.part.state"} {
			options = append(options, "-P", dir+"/"+name)
		}
		reset()
		e, log := l.strace(t, options, args...)
		if e.Code != 0 {
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
				e, _ := l.strace(t, slices.Concat(options,
					[]string{"-e", fmt.Sprintf("inject=%s:signal=KILL:when=%d", call, nth)}), args...)
				if e.Code == 128+int(syscall.SIGKILL) {
					killed++
				} else if e.Code != 0 { // a thread may make fewer calls than all threads together
					t.Errorf("%s: %v", name, e)
				}
				if !s.holdsBody(t, out, before, object) {
					t.Errorf("%s: unexpected contents of %d bytes", name, len(commandtest.Content(t, out)))
				}
				if e := l.run(t, args...); e.Code != 0 || !s.holdsBody(t, out, object, object) ||
					commandtest.FileNames(t, dir) != "out" {
					t.Errorf("%s, next attempt: %v, %d bytes, files %s", name, e, len(commandtest.Content(t, out)), commandtest.FileNames(t, dir))
				}
			}
		}
		t.Logf("resumable %v: killed %d times at %v", resume, killed, calls)
		if killed < 10 {
			t.Errorf("killed %d times, want at least 10", killed)
		}
	}
}

// killedAtRandom kills fetch at random times, while it downloads one of two
// objects of equal length to the same file.
func killedAtRandom(t *testing.T, l *lab) {
	s := serve(t)
	dir := commandtest.Folder(t)
	out := filepath.Join(dir, "out")
	objects := []string{"/10000000", "/x10000000"}
	commandtest.Put(t, out, "old")
	killed, parts := 0, 0
	for range l.kills {
		args := []string{"-q", "-o", out, s.URL + objects[rand.IntN(2)]}
		if rand.IntN(2) == 0 && commandtest.Content(t, out) != "old" {
			clearFolder(t, dir)
		}
		if commandtest.Content(t, out) == "" { // -C - would resume a file with contents
			args = append(args, "-C", "-")
		}
		before := commandtest.Content(t, out)
		p := commandtest.Start(t, exec.Command(l.fetch, args...))
		timer := time.AfterFunc(time.Duration(rand.Int64N(int64(40*time.Millisecond))), func() { p.Process.Kill() })
		e := p.Wait(t)
		timer.Stop()
		if e.Code == 128+int(syscall.SIGKILL) {
			killed++
		} else if e.Code != 0 {
			t.Errorf("%q: %v", args, e)
		}
		if !s.holdsBody(t, out, before, objects...) {
			t.Fatalf("%q: unexpected contents of %d bytes", args, len(commandtest.Content(t, out)))
		}
		if commandtest.FileNames(t, dir) != "out" {
			parts++
		}
		// The partial file may belong to either object. The next attempt
		// requests either object.
		next := objects[rand.IntN(2)]
		args = []string{"-q", "-o", out, s.URL + next}
		if before == "" && commandtest.Content(t, out) == "" {
			args = append(args, "-C", "-")
		}
		if e := l.run(t, args...); e.Code != 0 || commandtest.Content(t, out) != string(s.body(next)) || commandtest.FileNames(t, dir) != "out" {
			t.Fatalf("%q, next attempt: %v, %d bytes, files %s", args, e, len(commandtest.Content(t, out)), commandtest.FileNames(t, dir))
		}
	}
	t.Logf("killed %d of %d processes, %d left a partial file", killed, l.kills, parts)
	if killed < l.kills/4 || parts == 0 {
		t.Errorf("killed %d of %d processes, %d left a partial file: too few", killed, l.kills, parts)
	}
}
