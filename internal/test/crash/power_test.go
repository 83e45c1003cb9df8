package crash

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/anyurl/fetch/internal/test/diskmodel"
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
func TestPowerLoss(t *testing.T) { powerLoss(t, failuresPerCommand, 1) }

// powerLoss tests at most limit power failures of each command, or one at each
// call if limit is 0. The states with a random part have the given number of
// seeds.
func powerLoss(t *testing.T, limit int, seeds uint64) {
	f := report.Start(t, "power loss")
	for turn, s := range scenarios() {
		if s.shared {
			continue // the state of the database and of the store at the call is not recorded
		}
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			tr := newTrial(t, s)
			result, calls := tr.trace(t, 0)
			if result.Code != 0 {
				t.Fatalf("exit code %d: %s", result.Code, result.Output)
			}
			disk, err := diskmodel.Load(tr.base, tr.dir, calls)
			if err != nil {
				t.Fatal(err)
			}
			f.Add("commands", 1)
			f.Add("file calls", disk.Len())
			for _, rules := range []diskmodel.Rules{{}, {Directories: true}} {
				if rules.Directories && tr.derived {
					continue
				}
				tr.restore(t, disk.After(disk.Len(), rules))
				f.Add("states after the end", 1)
				tr.compare(t, fmt.Sprintf("power failure after the end: %s", rules))
			}
			seen := map[string]bool{}
			for _, n := range points(calls, disk.Len(), limit, turn) {
				for _, rules := range states(seeds, uint64(n)) {
					state := disk.After(min(n, disk.Len()), rules)
					if seen[state.Digest()] {
						continue
					}
					seen[state.Digest()] = true
					f.Add("states", 1)
					tr.restore(t, state)
					if !tr.check(t, fmt.Sprintf("power failure before call %d, %s: %s", n, disk.Call(min(n, disk.Len())), rules)) {
						f.Add("failures", 1)
					}
				}
			}
		})
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
