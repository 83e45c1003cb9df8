package frontiertest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/anyurl/fetch/mirror/internal/frontier"
)

// testClaim checks which items Claim and ClaimMore return, and in which order.
func testClaim(t *testing.T, e Engine) {
	t.Run("order", func(t *testing.T) {
		tr := newTrial(t, e)
		late, soon, first := url("a", 1), url("a", 2), url("a", 9)
		late.NotBefore, first.Priority = tr.now().Add(time.Second), -1
		tr.add(5, late, soon, url("a", 3), first, url("a", 4))
		l := tr.lease("w", "a", 2)
		if got := fmt.Sprint(urlsOf(l.Items)); got != "[http://a/9 http://a/2]" {
			t.Errorf("claimed %s", got)
		}
		tr.advance(time.Second)
		more, err := tr.ClaimMore(tr.ctx, l, 2)
		if got := fmt.Sprint(urlsOf(more)); err != nil || got != "[http://a/1 http://a/3]" {
			t.Errorf("then %s, %v; want waiting items at their old place", got, err)
		}
		more, err = tr.ClaimMore(tr.ctx, l, 9)
		if got := fmt.Sprint(urlsOf(more)); err != nil || got != "[http://a/4]" {
			t.Errorf("finally %s, %v", got, err)
		}
	})
	t.Run("nothing due", func(t *testing.T) {
		tr := newTrial(t, e)
		tr.noClaim("the frontier is empty")
		late := url("a", 1)
		late.NotBefore = tr.now().Add(time.Minute)
		tr.add(1, late)
		tr.noClaim("all items wait")
		if st := tr.stats(); !st.NextDue.Equal(late.NotBefore) || st.Hosts != 1 || st.Waiting != 1 {
			t.Errorf("%+v; want one waiting host until %v", st, late.NotBefore)
		}
		tr.advance(time.Minute)
		tr.lease("w", "a", 1)
	})
	t.Run("turns", func(t *testing.T) {
		tr := newTrial(t, e)
		for _, host := range []string{"a", "b", "c"} {
			for n := range 4 {
				tr.add(1, url(host, n))
			}
		}
		count := map[string]int{}
		for range 12 {
			tr.advance(time.Millisecond)
			ls, err := tr.Claim(tr.ctx, "w", 1, 1, time.Minute)
			if err != nil || len(ls) != 1 {
				t.Fatal(len(ls), err)
			}
			tr.must(tr.Complete(tr.ctx, ls[0], doneResults(ls[0].Items...), nil))
			tr.must(tr.Release(tr.ctx, ls[0], time.Time{}))
			count[ls[0].Host]++
			if c := count; max(c["a"], c["b"], c["c"]) > min(c["a"], c["b"], c["c"])+1 {
				t.Fatalf("hosts do not take turns: %v", c)
			}
		}
	})
	t.Run("many hosts", func(t *testing.T) {
		tr := newTrial(t, e)
		for n := range 50 {
			tr.add(1, url(fmt.Sprint("h", n), 1))
		}
		ls, err := tr.Claim(tr.ctx, "w", 30, 5, time.Minute)
		rest, err2 := tr.Claim(tr.ctx, "w", 30, 5, time.Minute)
		if len(ls) != 30 || len(rest) != 20 || err != nil || err2 != nil {
			t.Errorf("claimed %d and %d, %v, %v", len(ls), len(rest), err, err2)
		}
	})
}

// testLease checks how leases start, expire and end.
func testLease(t *testing.T, e Engine) {
	fenced := func(tr *trial, l *frontier.Lease, when string) {
		tr.Helper()
		_, more := tr.ClaimMore(tr.ctx, l, 1)
		for call, err := range map[string]error{
			"ClaimMore": more, "Complete": tr.Complete(tr.ctx, l, doneResults(l.Items...), nil),
			"Extend": tr.Extend(tr.ctx, l, time.Hour), "Release": tr.Release(tr.ctx, l, tr.now().Add(time.Hour)),
		} {
			if !errors.Is(err, frontier.ErrFenced) {
				tr.Errorf("%s, %s: %v", call, when, err)
			}
		}
	}
	start := func(t *testing.T) (*trial, *frontier.Lease) {
		tr := newTrial(t, e)
		tr.add(3, url("a", 1), url("a", 2), url("a", 3))
		return tr, tr.lease("w", "a", 1)
	}
	t.Run("taken over", func(t *testing.T) {
		tr, dead := start(t)
		tr.noClaim("a is leased")
		if st := tr.stats(); !st.NextDue.Equal(dead.Until) || st.Waiting != 0 {
			t.Errorf("%d hosts wait until %v; want none, and the end of the lease, %v", st.Waiting, st.NextDue, dead.Until)
		}
		tr.advance(time.Minute)
		l := tr.lease("x", "a", 1)
		if l.Epoch <= dead.Epoch || l.Items[0].URL != dead.Items[0].URL {
			t.Errorf("epoch %d after %d, %v", l.Epoch, dead.Epoch, urlsOf(l.Items))
		}
		fenced(tr, dead, "after another worker claimed the host")
		tr.want(frontier.Done)
		tr.must(tr.Complete(tr.ctx, l, doneResults(l.Items...), nil))
		tr.want(frontier.Done, l.Items[0].URL)
	})
	t.Run("expired", func(t *testing.T) {
		tr, l := start(t)
		tr.advance(time.Hour)
		if more, err := tr.ClaimMore(tr.ctx, l, 9); len(more) > 0 || err != nil {
			t.Errorf("an expired lease returned %v, %v", urlsOf(more), err)
		}
		tr.must(tr.Complete(tr.ctx, l, doneResults(l.Items...), nil))
		tr.must(tr.Extend(tr.ctx, l, time.Minute))
		tr.noClaim("a is leased again")
		if more, err := tr.ClaimMore(tr.ctx, l, 9); len(more) != 2 || err != nil {
			t.Errorf("an extended lease returned %v, %v", urlsOf(more), err)
		}
	})
	t.Run("expired, and no item due", func(t *testing.T) {
		tr, l := start(t)
		var wait []frontier.Result
		for n := range 3 {
			wait = append(wait, frontier.Result{Item: url("a", n+1), Retry: tr.now().Add(2 * time.Hour)})
		}
		tr.must(tr.Complete(tr.ctx, l, wait, nil))
		tr.advance(time.Hour)
		tr.noClaim("all items wait") // Claim returns no host, so that l stays valid
		tr.must(tr.Complete(tr.ctx, l, []frontier.Result{{Item: url("a", 1), Retry: tr.now().Add(time.Minute)}}, nil))
		if st := tr.stats(); !st.NextDue.Equal(tr.now().Add(time.Minute)) {
			t.Errorf("the next is due at %v, a minute after %v", st.NextDue, tr.now())
		}
		tr.add(1, url("a", 4))
		tr.lease("x", "a", 9)
		fenced(tr, l, "after another worker claimed the host")
	})
	t.Run("released", func(t *testing.T) {
		tr, l := start(t)
		next := tr.now().Add(time.Second)
		tr.must(tr.Release(tr.ctx, l, next))
		fenced(tr, l, "after Release")
		tr.noClaim("the delay of a has not passed")
		if st := tr.stats(); !st.NextDue.Equal(next) || st.Waiting != 1 {
			t.Errorf("%d hosts wait until %v; want one until %v", st.Waiting, st.NextDue, next)
		}
		tr.advance(time.Second)
		if st := tr.stats(); st.Waiting != 0 {
			t.Errorf("%d hosts wait after the delay", st.Waiting)
		}
		tr.lease("w", "a", 1)
	})
	t.Run("evicted", func(t *testing.T) {
		tr, l := start(t)
		tr.must(tr.Evict(tr.ctx))
		fenced(tr, l, "after Evict")
		tr.lease("x", "a", 1)
		fenced(tr, l, "after Evict and Claim")
	})
	t.Run("blocked", func(t *testing.T) {
		tr, l := start(t)
		tr.must(tr.BlockHost(tr.ctx, "a", tr.now().Add(time.Hour)))
		tr.must(tr.BlockHost(tr.ctx, "a", tr.now().Add(time.Minute))) // an earlier time has no effect
		if more, err := tr.ClaimMore(tr.ctx, l, 1); len(more) > 0 || err != nil {
			t.Errorf("a blocked host returned %v, %v", urlsOf(more), err)
		}
		tr.must(tr.Release(tr.ctx, l, tr.now().Add(time.Second)))
		tr.advance(30 * time.Minute)
		tr.noClaim("a is blocked")
		tr.advance(30 * time.Minute)
		tr.lease("w", "a", 1)

		tr.must(tr.BlockHost(tr.ctx, "new", tr.now().Add(time.Hour))) // before the host has any items
		tr.add(1, url("new", 1))
		tr.noClaim("new is blocked")
	})
}
