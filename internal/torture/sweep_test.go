package torture

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/faultnet"
	"github.com/anyurl/fetch/internal/savetest"
	"github.com/anyurl/fetch/save"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestSweep fails every seventh operation of every scenario, and every 28th
// with -short. TestSoakSweep, with the build tag soak, fails every operation.
func TestSweep(t *testing.T) {
	stride := 7
	if testing.Short() {
		stride *= 4
	}
	sweep(t, stride)
}

func sweep(t *testing.T, stride int) {
	for i := range scenarios {
		s := &scenarios[i]
		t.Run(s.name, func(t *testing.T) {
			for _, attempts := range []int{1, 4} {
				if s.retried && attempts == 1 {
					continue
				}
				t.Run(fmt.Sprintf("of %d attempts, net", attempts), func(t *testing.T) { sweepNet(t, s, attempts, stride) })
			}
			t.Run("disk", func(t *testing.T) { sweepDisk(t, s, stride) })
		})
	}
}

// sweepNet fails the operations of the connections.
func sweepNet(t *testing.T, s *scenario, attempts, stride int) {
	var sound outcome
	faultnet.Sweep(t, stride, func(t *testing.T, at int, f faultnet.Failure) (count int) {
		tr := &trial{scenario: s, attempts: attempts, at: at, conn: f, disk: &savetest.FS{}}
		synctest.Test(t, func(t *testing.T) {
			o := tr.run(t)
			if at == 0 {
				sound = o
			}
			tr.judge(t, o, sound)
		})
		return tr.breaker.Count()
	})
}

// sweepDisk fails the operations of the file system.
func sweepDisk(t *testing.T, s *scenario, stride int) {
	var sound outcome
	disk := &savetest.FS{}
	run := func(t *testing.T, fsys *savetest.FS, stop int) {
		synctest.Test(t, func(t *testing.T) {
			tr := &trial{scenario: s, attempts: 4, disk: fsys, stop: stop}
			o := tr.run(t)
			if fsys == disk {
				sound = o
			}
			tr.judge(t, o, sound)
		})
	}
	if !t.Run("whole", func(t *testing.T) { run(t, disk, 0) }) {
		return
	}
	ops := disk.Ops()
	for i := 0; i < len(ops); i += stride {
		op := ops[i]
		for _, fault := range savetest.Faults() {
			if fault.Half && op.Verb != "write" {
				continue
			}
			t.Run(fmt.Sprintf("%s at %s, %d of %d", fault.Name, op, i+1, len(ops)), func(t *testing.T) {
				run(t, &savetest.FS{At: i + 1, Fault: fault}, 0)
			})
		}
		t.Run(fmt.Sprintf("canceled at %s, %d of %d", op, i+1, len(ops)), func(t *testing.T) {
			run(t, &savetest.FS{}, i+1)
		})
	}
}

// judge holds a trial to the invariants.
func (tr *trial) judge(t *testing.T, o, sound outcome) {
	t.Helper()
	defer func() {
		if t.Failed() {
			t.Logf("ended with %v after %v, %d bytes from %d delivered", o.err, o.took, len(o.got), o.first)
			t.Logf("notes: %q", tr.said)
			t.Logf("network:\n%s", strings.Join(tr.world.log, "\n"))
			t.Logf("disk: %v", tr.disk.Ops())
		}
	}()
	tr.judgeError(t, o.err)         // I1
	held := tr.judgeFile(t, o)      // I2
	tr.judgeBody(t, o)              // I3
	if n := tr.disk.Open(); n > 0 { // I4, with transfer and the bubble
		t.Errorf("I4: %d files are open", n)
	}
	tr.judgeTime(t, o, sound)    // I5
	tr.judgeTraffic(t, o, sound) // I6
	tr.judgeSecrets(t, o)        // I7
	if tr.save.Existing == save.Refuse && held == object {
		return
	}
	again := tr.again(t, tr.place()) // I8
	want := object
	if tr.endsIn != 0 {
		want = tr.before
	}
	if got := tr.content(t); fetch.FaultOf(again.err) != tr.endsIn || got != want {
		t.Errorf("I8: the next transfer ends with %v, %d bytes in the file", again.err, len(got))
	}
	if left := tr.names(t); want != "" && !slices.Equal(left, []string{"out"}) {
		t.Errorf("I8: the next transfer leaves %q", left)
	}
}

// broken reports whether something may have failed, and what the caller may
// be told for it.
func (tr *trial) broken() (faults []fetch.Fault) {
	switch at := tr.disk.At; {
	case tr.stop > 0:
		return []fetch.Fault{fetch.Canceled}
	case at > 0 && len(tr.disk.Ops()) >= at:
		if tr.disk.Fault.Err == syscall.ENOSPC {
			return []fetch.Fault{fetch.DiskFull}
		}
		return []fetch.Fault{fetch.Local}
	case !tr.hit():
		return nil
	case tr.conn == faultnet.Canceled && tr.retried:
		return []fetch.Fault{fetch.Canceled, fetch.TryLater} // the answer was under way
	case tr.conn == faultnet.Canceled:
		return []fetch.Fault{fetch.Canceled}
	case tr.attempts > 1 && tr.resumes:
		return nil
	}
	return []fetch.Fault{fetch.Connect, fetch.Timeout, fetch.Truncated}
}

func (tr *trial) judgeError(t *testing.T, err error) {
	t.Helper()
	if got := fetch.FaultOf(err); got != tr.endsIn && !slices.Contains(tr.broken(), got) {
		t.Errorf("I1: class %v, want %v or one of %v", got, tr.endsIn, tr.broken())
	}
}

// judgeFile returns what the file holds.
func (tr *trial) judgeFile(t *testing.T, o outcome) string {
	t.Helper()
	held := tr.content(t)
	switch {
	case held != tr.before && held != object:
		t.Errorf("I2: the file holds %d bytes: neither the old ones nor the object", len(held))
	case o.err == nil && held != object:
		t.Error("I2: success without the object")
	case o.err != nil && held == object && held != tr.before && !tr.renamed():
		t.Error("I2: an error though the file is there")
	}
	failed := tr.disk.At > 0 && len(tr.disk.Ops()) >= tr.disk.At && tr.disk.Ops()[tr.disk.At-1].Verb == "remove"
	for _, name := range tr.names(t) {
		if name != "out" && !tr.save.Resume && !tr.disk.Killed() && !failed {
			t.Errorf("I2: %s is left", name)
		}
	}
	return held
}

func (tr *trial) judgeBody(t *testing.T, o outcome) {
	t.Helper()
	if o.first > int64(len(object)) || !strings.HasPrefix(object[o.first:], o.got) {
		t.Errorf("I3: %d bytes from %d are not those of the object", len(o.got), o.first)
	} else if o.err == nil && int(o.first)+len(o.got) != len(object) {
		t.Errorf("I3: success after %d bytes from %d", len(o.got), o.first)
	}
}

// How long a transfer may take beyond a sound one: what waits for a byte ends
// after a minute, an answer to what could not be asked is waited for for a
// moment, and another attempt begins half a second later; one after that, a
// second. fetch.IsQuiet looks for a glance at each idle connection, because the
// connections of a world have no socket. Which segment finds an idle connection
// differs from run to run.
const (
	longestWait = time.Minute
	moment      = 50 * time.Millisecond
	glance      = time.Millisecond
	delay       = 500 * time.Millisecond
)

func (tr *trial) judgeTime(t *testing.T, o, sound outcome) {
	t.Helper()
	limit, delay := sound.took+time.Duration(tr.tries)*glance, delay
	if tr.retried {
		delay *= 2
	}
	switch {
	case !tr.hit() || tr.conn == faultnet.Canceled:
	case tr.conn == faultnet.Silent:
		limit += longestWait + moment + delay
	default:
		limit += moment + delay
	}
	if tr.world.endless != "" {
		t.Errorf("I5: %s", tr.world.endless)
	}
	if o.took > limit {
		t.Errorf("I5: took %v, want %v at the most", o.took, limit)
	}
}

func (tr *trial) judgeTraffic(t *testing.T, o, sound outcome) {
	t.Helper()
	dials, requests := max(sound.dials, tr.tries), sound.requests
	if tr.hit() && tr.conn != faultnet.Canceled {
		dials, requests = dials+max(tr.tries, 1), 2*requests // once more, from the beginning
	}
	if o.dials > dials || o.requests > requests {
		t.Errorf("I6: %d connections and %d requests, want %d and %d at the most", o.dials, o.requests, dials, requests)
	}
	late := 0
	if tr.segmented { // what is asked for side by side may cross the end that another met
		late = tr.tries
	}
	if tr.world.late > late {
		t.Errorf("I6: %d connections after the end of the context", tr.world.late)
	}
}

func (tr *trial) judgeSecrets(t *testing.T, o outcome) {
	t.Helper()
	said := strings.Join(tr.said, "\n")
	if o.err != nil {
		said += o.err.Error()
	}
	if strings.Contains(said, secret) || strings.ContainsFunc(said, func(r rune) bool { return r < ' ' && r != '\n' || r == 0x7f }) {
		t.Errorf("I7: said %q", said)
	}
	if len(tr.world.leaks) > 0 {
		t.Errorf("I7: another host heard %q", tr.world.leaks)
	}
	for _, name := range tr.names(t) {
		if text, err := os.ReadFile(filepath.Join(filepath.Dir(tr.out), name)); err != nil || strings.Contains(string(text), secret) {
			t.Errorf("I7: %s holds a secret (%v)", name, err)
		}
	}
}
