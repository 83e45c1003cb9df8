package crash

import (
	"fmt"
	"testing"

	"github.com/anyurl/fetch/internal/test/filecalls"
	"github.com/anyurl/fetch/internal/test/report"
)

// killsPerCommand is the number of kills of each command in TestKillPoints.
const killsPerCommand = 6

// TestKillPoints kills each command that writes files before some of the calls
// that change or sync files. TestSoakKillPoints kills it before each of them.
func TestKillPoints(t *testing.T) { killPoints(t, killsPerCommand) }

// killPoints kills each command at most limit times, or at each call if limit is
// 0.
func killPoints(t *testing.T, limit int) {
	f := report.Start(t, "kill points")
	for _, s := range scenarios() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			tr := newTrial(t, s)
			result, calls := tr.trace(t, 0)
			if result.Code != 0 {
				t.Fatalf("exit code %d: %s", result.Code, result.Output)
			}
			f.Add("commands", 1)
			f.Add("file calls", result.Count)
			for _, n := range points(calls, result.Count, limit) {
				killed, _ := tr.trace(t, n)
				if killed.Killed == "" {
					continue // this run made fewer calls
				}
				f.Add("kills", 1)
				if !tr.check(t, fmt.Sprintf("killed before call %d, %s", n, killed.Killed)) {
					f.Add("failures", 1)
				}
			}
		})
	}
}

// points returns the numbers of calls, from 1, before which a command is killed.
// A limited selection leaves out writes that follow a write of the same file.
func points(calls []filecalls.Call, count, limit int) (selected []int) {
	if limit == 0 {
		for n := range count {
			selected = append(selected, n+1)
		}
		return append(selected, count+1) // after the last call
	}
	var all []int
	for n, c := range calls {
		if n == 0 || c.Kind != filecalls.Write || calls[n-1].Kind != filecalls.Write || calls[n-1].Path != c.Path {
			all = append(all, n+1)
		}
	}
	for n := range min(limit, len(all)) {
		selected = append(selected, all[(2*n+1)*len(all)/(2*min(limit, len(all)))])
	}
	return selected
}
