package crash

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/anyurl/fetch/internal/test/diskmodel"
	"github.com/anyurl/fetch/internal/test/filecalls"
	"github.com/anyurl/fetch/internal/test/report"
)

// failuresPerCommand is the number of power failures of each command in
// TestPowerLoss. Each is tested with several states of the disk.
const failuresPerCommand = 3

// TestPowerLoss records the file calls of each command that writes files. It
// creates states of the disk after power failures at some of these calls, as
// described by package diskmodel. The same command must continue from each
// state. After the end of the command, all its files must be on the disk.
// TestSoakPowerLoss tests a power failure at each call.
//
// The power of a database server or of a store does not fail. A command that uses
// them is killed at the call, so that they have the state of this moment.
func TestPowerLoss(t *testing.T) { powerLoss(t, failuresPerCommand, 1) }

// powerLoss tests at most limit power failures of each command, or one at each
// call if limit is 0. The states with a random part have the given number of
// seeds.
func powerLoss(t *testing.T, limit int, seeds uint64) {
	f := report.Start(t, "power loss")
	for turn, s := range scenarios() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			tr := newTrial(t, s)
			calls, count := tr.powerAfterEnd(t, f)
			if s.shared {
				selected := points(calls, count, 2*limit, turn)
				if limit > 0 { // a call between the end of the crawl and the end of the process
					selected = append(selected, count-count/10)
				}
				tr.sharedPowerLoss(t, f, selected, limit == 0, seeds)
				if n := joined(calls); limit > 0 && n > 0 {
					tr.sharedPowerLoss(t, f, []int{n}, false, 0)
				}
				return
			}
			disk := tr.disk(t, calls)
			seen := map[string]bool{}
			for _, n := range points(calls, disk.Len(), limit, turn) {
				for _, rules := range states(seeds, uint64(n)) {
					state := disk.After(min(n, disk.Len()), rules)
					if seen[state.Digest()] {
						continue
					}
					seen[state.Digest()] = true
					tr.powerFailure(t, f, state, fmt.Sprintf("power failure before call %d, %s: %s", n, disk.Call(min(n, disk.Len())), rules))
				}
			}
		})
	}
}

// joined returns the number of the call after a worker has joined its crawl. The
// database then has the identifier of its directory. The result is 0 if the
// command is no worker.
func joined(calls []filecalls.Call) int {
	for n, c := range slices.Backward(calls) {
		if c.Kind == filecalls.Rename && filepath.Base(c.To) == "worker.json" {
			return n + 1
		}
	}
	return 0
}

// powerAfterEnd runs the command and checks that its files are on the disk after
// its end. It returns the calls of the command, and the number of those that
// trace counts.
func (tr *trial) powerAfterEnd(t *testing.T, f *report.Figures) (calls []filecalls.Call, count int) {
	t.Helper()
	result, calls := tr.trace(t, 0, true)
	if result.Code != 0 {
		t.Fatalf("exit code %d: %s", result.Code, result.Output)
	}
	disk := tr.disk(t, calls)
	f.Add("commands", 1)
	f.Add("file calls", disk.Len())
	for _, rules := range []diskmodel.Rules{{}, {Directories: true}} {
		if rules.Directories && tr.derived {
			continue
		}
		tr.restore(t, disk.After(disk.Len(), rules))
		f.Add("states after the end", 1)
		if failure := fmt.Sprintf("power failure after the end: %s", rules); !tr.shared {
			tr.compare(t, failure)
		} else {
			tr.check(t, failure) // a file that was uploaded may return
		}
	}
	return calls, result.Count
}

// sharedPowerLoss tests power failures at some calls of a command that uses a
// database and a store. If all is false, a call has only one state of the disk.
func (tr *trial) sharedPowerLoss(t *testing.T, f *report.Figures, selected []int, all bool, seeds uint64) {
	for i, n := range selected {
		rules := states(seeds, uint64(n))
		if !all {
			rules = rules[i%len(rules):][:1]
		}
		for _, r := range rules {
			killed, calls := tr.trace(t, n, true)
			if killed.Killed == "" {
				continue // this run made fewer calls
			}
			disk := tr.disk(t, calls)
			tr.powerFailure(t, f, disk.After(disk.Len(), r), fmt.Sprintf("power failure before call %d, %s: %s", n, killed.Killed, r))
		}
	}
}

// disk returns the history of the files of the command.
func (tr *trial) disk(t *testing.T, calls []filecalls.Call) *diskmodel.Disk {
	t.Helper()
	disk, err := diskmodel.Load(tr.base, tr.dir, calls)
	if err != nil {
		t.Fatal(err)
	}
	return disk
}

// powerFailure checks that the command continues from a state of the disk.
func (tr *trial) powerFailure(t *testing.T, f *report.Figures, s diskmodel.State, failure string) {
	t.Helper()
	f.Add("states", 1)
	tr.restore(t, s)
	if !tr.check(t, failure) {
		f.Add("failures", 1)
	}
}

// states returns the rules for the states of a power failure.
func states(seeds, salt uint64) []diskmodel.Rules {
	const none, all, some = diskmodel.None, diskmodel.All, diskmodel.Some
	rules := []diskmodel.Rules{
		{Names: none, Data: none}, {Names: all, Data: none}, {Names: none, Data: all},
	}
	for seed := range seeds {
		seed += salt << 16
		rules = append(rules, diskmodel.Rules{Names: some, Data: some, Seed: seed})
	}
	return rules
}

// restore replaces the files of the command by a state of the disk.
func (tr *trial) restore(t *testing.T, s diskmodel.State) {
	t.Helper()
	if err := errors.Join(os.RemoveAll(tr.dir), os.Mkdir(tr.dir, 0o777), s.Write(tr.dir)); err != nil {
		t.Fatal(err)
	}
}
