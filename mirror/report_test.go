package mirror

import (
	"slices"
	"testing"
	"time"

	"github.com/anyurl/fetch/mirror/internal/frontier"
)

// TestLateProgress checks that the last numbers are reported although they came
// less than progressInterval after the numbers before.
func TestLateProgress(t *testing.T) {
	now, pending := time.Unix(0, 0), int64(0)
	var got []int64
	r := report{
		summary:    Summary{LeftOut: LeftOut{}},
		now:        func() time.Time { return now },
		onProgress: func(p Progress) { got = append(got, p.Pending) },
	}
	stats := func() (frontier.Stats, error) {
		return frontier.Stats{States: map[frontier.State]int64{frontier.Pending: pending}}, nil
	}
	now = now.Add(time.Hour)
	for _, step := range []struct {
		after   time.Duration
		pending int64 // of a commit, or 0 for a call of lateProgress
		want    []int64
	}{
		{0, 9, []int64{9}},
		{progressInterval / 2, 8, []int64{9}},
		{progressInterval / 4, 0, []int64{9}},
		{progressInterval / 4, 0, []int64{9, 8}},
		{time.Hour, 0, []int64{9, 8}},
		{0, 7, []int64{9, 8, 7}},
		{time.Hour, 0, []int64{9, 8, 7}},
	} {
		now = now.Add(step.after)
		if step.pending == 0 {
			r.lateProgress(stats)
		} else {
			pending = step.pending
			r.progress(stats)
		}
		if !slices.Equal(got, step.want) {
			t.Fatalf("%+v: got %v", step, got)
		}
	}
}
