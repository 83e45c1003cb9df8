package frontiertest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/anyurl/fetch/mirror/internal/frontier"
)

// testUnlogged checks that the lines of Complete are kept in their order until
// they are logged, and that a failed transaction leaves no line.
func testUnlogged(t *testing.T, e Engine) {
	tr := newTrial(t, e)
	var want []string
	items := make([]frontier.Item, 300) // more than a page
	for i := range items {
		items[i] = url("a", i)
		want = append(want, fmt.Sprint("line ", i))
	}
	tr.add(len(items), items...)
	l := tr.lease("w", "a", len(items))
	check := func(want []string) {
		t.Helper()
		var got []string
		for line, err := range tr.Unlogged(tr.ctx) {
			tr.must(err)
			got = append(got, string(line))
		}
		if !slices.Equal(got, want) {
			t.Errorf("got the lines %q, want %q", got, want)
		}
	}
	rs := doneResults(items...)
	for i := range rs {
		rs[i].Line = []byte(want[i])
	}
	failed := append(slices.Clone(rs[:1]), doneResults(url("b", 1))...)
	if err := tr.Complete(tr.ctx, l, failed, nil); err == nil {
		t.Error("an item of another host was completed")
	}
	check(nil)
	tr.must(tr.Complete(tr.ctx, l, rs[:200], nil))
	check(want[:200])
	tr.must(tr.Complete(tr.ctx, l, append(rs[200:299:299], doneResults(items[299])...), nil)) // the last result has no line
	if e.Lasts {
		tr.must(tr.Close())
		tr.open(e)
	}
	check(want[:299])
	tr.must(tr.Logged(tr.ctx))
	check(nil)
}
