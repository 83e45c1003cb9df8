package frontiertest

import (
	"testing"
	"time"

	"github.com/anyurl/fetch/mirror/internal/frontier"
)

// testLimitWaits sets the clock back by a day. LimitWaits must shorten the pause
// of a host, the waiting time of an item and a lease, but no shorter waits.
func testLimitWaits(t *testing.T, e Engine) {
	const day, longest = 24 * time.Hour, 10 * time.Minute
	tr := newTrial(t, e)
	tr.add(1, url("waiting", 1))
	l := tr.lease("w", "waiting", 1)
	tr.must(tr.Complete(tr.ctx, l, []frontier.Result{{Item: l.Items[0], Retry: tr.now().Add(longest)}}, nil))
	tr.must(tr.Release(tr.ctx, l, time.Time{}))
	tr.add(1, url("leased", 1))
	tr.lease("w", "leased", 1)
	tr.add(2, url("blocked", 1), url("paused", 1))
	tr.must(tr.BlockHost(tr.ctx, "blocked", tr.now().Add(longest)))
	_, err := tr.Control(tr.ctx, "paused", func(c *frontier.HostControl) { c.Paused = true })
	tr.must(err)
	tr.advance(-day)
	tr.must(tr.BlockHost(tr.ctx, "other", tr.now().Add(time.Minute)))
	tr.add(1, url("other", 1))
	check := func(host string, wait time.Duration) {
		t.Helper()
		s, err := tr.Stats(tr.ctx)
		if tr.must(err); s.NextHost != host || s.NextDue.Sub(tr.now()) != wait || s.Open != 4 {
			t.Errorf("got %s in %v, %d open hosts; want %s in %v", s.NextHost, s.NextDue.Sub(tr.now()), s.Open, host, wait)
		}
	}
	check("other", time.Minute)
	tr.must(tr.LimitWaits(tr.ctx, longest))
	check("other", time.Minute)
	tr.advance(longest)
	ls, err := tr.Claim(tr.ctx, "w", 9, 9, time.Minute)
	tr.must(err)
	got := map[string]bool{}
	for _, l := range ls {
		got[l.Host] = true
	}
	for _, host := range []string{"blocked", "waiting", "leased", "other"} {
		if !got[host] {
			t.Errorf("the host %s was not claimed", host)
		}
	}
	if len(ls) != 4 {
		t.Errorf("claimed %v", got)
	}
}
