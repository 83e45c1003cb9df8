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
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/savetest"
	"github.com/anyurl/fetch/save"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestSweep fails every seventh operation of every scenario, and every
// 112th with -short. TestSoakSweep, with the build tag soak, fails every operation.
func TestSweep(t *testing.T) {
	stride := 7
	if testing.Short() {
		stride *= 16
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

// sweepNet runs s with failures of network operations.
func sweepNet(t *testing.T, s *scenario, attempts, stride int) {
	var intact outcome
	faultnet.Sweep(t, stride, func(t *testing.T, at int, f faultnet.Failure) (count int) {
		tr := &trial{scenario: s, attempts: attempts, at: at, conn: f, disk: &savetest.FS{}}
		synctest.Test(t, func(t *testing.T) {
			o := tr.run(t)
			if at == 0 {
				intact = o
			}
			tr.checkInvariants(t, o, intact)
		})
		return tr.breaker.Count()
	})
}

// sweepDisk runs s with failures of file system operations.
func sweepDisk(t *testing.T, s *scenario, stride int) {
	var intact outcome
	disk := &savetest.FS{}
	run := func(t *testing.T, fsys *savetest.FS, stop int) {
		synctest.Test(t, func(t *testing.T) {
			tr := &trial{scenario: s, attempts: 4, disk: fsys, stop: stop}
			o := tr.run(t)
			if fsys == disk {
				intact = o
			}
			tr.checkInvariants(t, o, intact)
		})
	}
	if !t.Run("no failure", func(t *testing.T) { run(t, disk, 0) }) {
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

// checkInvariants checks the invariants of the package documentation. The
// outcome intact is from a run without a failure.
func (tr *trial) checkInvariants(t *testing.T, o, intact outcome) {
	t.Helper()
	defer func() {
		if t.Failed() {
			t.Logf("returned %v after %v, %d bytes from %d delivered", o.err, o.took, len(o.got), o.first)
			t.Logf("notes: %q", tr.messages)
			t.Logf("network:\n%s", strings.Join(tr.world.log, "\n"))
			t.Logf("disk: %v", tr.disk.Ops())
		}
	}()
	tr.checkError(t, o.err)         // I1
	held := tr.checkFile(t, o)      // I2
	tr.checkBody(t, o)              // I3
	if n := tr.disk.Open(); n > 0 { // I4; transfer and the bubble check the other parts
		t.Errorf("I4: %d files are open", n)
	}
	tr.checkTime(t, o, intact)    // I5
	tr.checkTraffic(t, o, intact) // I6
	tr.checkSecrets(t, o)         // I7
	if tr.save.Existing == save.Refuse && held == object {
		return
	}
	again := tr.repeat(t, tr.resolvedURL()) // I8
	want := object
	if tr.endsIn != 0 {
		want = tr.before
	}
	if got := tr.content(t); fetch.FaultOf(again.err) != tr.endsIn || got != want {
		t.Errorf("I8: the second transfer returned %v, %d bytes in the file", again.err, len(got))
	}
	if left := tr.names(t); want != "" && !slices.Equal(left, []string{"out"}) {
		t.Errorf("I8: the second transfer left %q", left)
	}
}

// possibleFaults returns the classes of errors that the failure of the trial
// can cause. It returns nil if no error may occur.
func (tr *trial) possibleFaults() (faults []fetch.Fault) {
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
		return []fetch.Fault{fetch.Canceled, fetch.TryLater} // the response may already have started
	case tr.conn == faultnet.Canceled:
		return []fetch.Fault{fetch.Canceled}
	case tr.attempts > 1 && tr.resumes:
		return nil
	}
	return []fetch.Fault{fetch.Connect, fetch.Timeout, fetch.Truncated}
}

func (tr *trial) checkError(t *testing.T, err error) {
	t.Helper()
	if got := fetch.FaultOf(err); got != tr.endsIn && !slices.Contains(tr.possibleFaults(), got) {
		t.Errorf("I1: class %v, want %v or one of %v", got, tr.endsIn, tr.possibleFaults())
	}
}

// checkFile checks I2 and returns the content of the file.
func (tr *trial) checkFile(t *testing.T, o outcome) string {
	t.Helper()
	held := tr.content(t)
	switch {
	case held != tr.before && held != object:
		t.Errorf("I2: the file has %d bytes: neither the old content nor the object", len(held))
	case o.err == nil && held != object:
		t.Error("I2: no error, but the file is not the object")
	case o.err != nil && held == object && held != tr.before && !tr.renamed():
		t.Error("I2: an error although the file is the object")
	}
	failed := tr.disk.At > 0 && len(tr.disk.Ops()) >= tr.disk.At && tr.disk.Ops()[tr.disk.At-1].Verb == "remove"
	for _, name := range tr.names(t) {
		if name != "out" && !tr.save.Resume && !tr.disk.Killed() && !failed {
			t.Errorf("I2: %s remains", name)
		}
	}
	return held
}

func (tr *trial) checkBody(t *testing.T, o outcome) {
	t.Helper()
	if o.first > int64(len(object)) || !strings.HasPrefix(object[o.first:], o.got) {
		t.Errorf("I3: %d bytes from %d differ from the object", len(o.got), o.first)
	} else if o.err == nil && int(o.first)+len(o.got) != len(object) {
		t.Errorf("I3: no error after %d bytes from %d", len(o.got), o.first)
	}
}

// Times that a transfer may take in addition to a transfer without a failure.
const (
	longestWait = time.Minute            // timeout of a read
	lateReply   = 50 * time.Millisecond  // wait for a response after a failed write
	idleCheck   = time.Millisecond       // time of fetch.IsQuiet for each idle connection without a socket
	delay       = 500 * time.Millisecond // before the second attempt; doubled for each further attempt
)

func (tr *trial) checkTime(t *testing.T, o, intact outcome) {
	t.Helper()
	limit, delay := intact.took+time.Duration(tr.tries)*idleCheck, delay
	if tr.retried {
		delay *= 2
	}
	switch {
	case !tr.hit() || tr.conn == faultnet.Canceled:
	case tr.conn == faultnet.Silent:
		limit += longestWait + lateReply + delay
	default:
		limit += lateReply + delay
	}
	if tr.world.missedDeadline != "" {
		t.Errorf("I5: %s", tr.world.missedDeadline)
	}
	if o.took > limit {
		t.Errorf("I5: took %v, want at most %v", o.took, limit)
	}
}

func (tr *trial) checkTraffic(t *testing.T, o, intact outcome) {
	t.Helper()
	dials, requests := max(intact.dials, tr.tries), intact.requests
	if tr.hit() && tr.conn != faultnet.Canceled {
		dials, requests = dials+max(tr.tries, 1), 2*requests // one more attempt from the beginning
	}
	if o.dials > dials || o.requests > requests {
		t.Errorf("I6: %d connections and %d requests, want at most %d and %d", o.dials, o.requests, dials, requests)
	}
	late := 0
	if tr.segmented { // a parallel segment may connect while another segment fails
		late = tr.tries
	}
	if tr.world.lateDials > late {
		t.Errorf("I6: %d connections after the end of the context", tr.world.lateDials)
	}
}

func (tr *trial) checkSecrets(t *testing.T, o outcome) {
	t.Helper()
	text := strings.Join(tr.messages, "\n")
	if o.err != nil {
		text += o.err.Error()
	}
	if strings.Contains(text, secret) || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\n' || r == 0x7f }) {
		t.Errorf("I7: errors and notes %q", text)
	}
	if len(tr.world.leaks) > 0 {
		t.Errorf("I7: another host received %q", tr.world.leaks)
	}
	for _, name := range tr.names(t) {
		if text, err := os.ReadFile(filepath.Join(filepath.Dir(tr.out), name)); err != nil || strings.Contains(string(text), secret) {
			t.Errorf("I7: %s contains a secret (%v)", name, err)
		}
	}
}
