package crash

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
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
	for turn, s := range scenarios() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			tr := newTrial(t, s)
			result, calls := tr.trace(t, 0, true)
			if result.Code != 0 {
				t.Fatalf("exit code %d: %s", result.Code, result.Output)
			}
			f.Add("commands", 1)
			f.Add("file calls", result.Count)
			for _, n := range points(calls, result.Count, limit, turn) {
				killed, _ := tr.trace(t, n, false)
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

// points returns the numbers of calls, from 1, before which a command fails. If
// limit is 0, these are all calls. Otherwise, they are calls of different classes.
// The parameter turn is the number of the scenario: scenarios with similar calls
// select different classes.
func points(calls []filecalls.Call, count, limit, turn int) (selected []int) {
	if limit == 0 {
		for n := range count {
			selected = append(selected, n+1)
		}
		return append(selected, count+1) // after the last call
	}
	var classes []string
	members := map[string][]int{}
	for n, c := range calls {
		class := classOf(c)
		if members[class] == nil {
			classes = append(classes, class)
		}
		members[class] = append(members[class], n+1)
	}
	limit = min(limit, len(classes))
	for n := range limit {
		all := members[classes[(turn+n*len(classes)/limit)%len(classes)]]
		selected = append(selected, all[len(all)/2])
	}
	return selected
}

// classOf returns the kind of a call and of its file.
func classOf(c filecalls.Call) string {
	path := regexp.MustCompile(`^.*/work/`).ReplaceAllString(c.Path, "")
	folder, _, _ := strings.Cut(strings.TrimPrefix(path, "a/"), "/")
	return fmt.Sprint(c.Kind, " ", folder, " ", filepath.Ext(path))
}
