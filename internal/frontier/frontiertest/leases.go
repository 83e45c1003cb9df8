package frontiertest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/anyurl/fetch/internal/frontier"
)

// claim tests who is handed out, and in which order.
func claim(t *testing.T, e Engine) {
	t.Run("order", func(t *testing.T) {
		tr := begin(t, e)
		late, soon, first := url("a", 1), url("a", 2), url("a", 9)
		late.NotBefore, first.Priority = tr.now().Add(time.Second), -1
		tr.add(5, late, soon, url("a", 3), first, url("a", 4))
		l := tr.lease("w", "a", 2)
		if got := fmt.Sprint(urlsOf(l.Items)); got != "[http://a/9 http://a/2]" {
			t.Errorf("claimed %s", got)
		}
		tr.pass(time.Second)
		more, err := tr.ClaimMore(tr.ctx, l, 2)
		if got := fmt.Sprint(urlsOf(more)); err != nil || got != "[http://a/1 http://a/3]" {
			t.Errorf("then %s, %v; what waited takes its old place", got, err)
		}
		more, err = tr.ClaimMore(tr.ctx, l, 9)
		if got := fmt.Sprint(urlsOf(more)); err != nil || got != "[http://a/4]" {
			t.Errorf("at last %s, %v", got, err)
		}
	})
	t.Run("nothing due", func(t *testing.T) {
		tr := begin(t, e)
		tr.none("nothing is there")
		late := url("a", 1)
		late.NotBefore = tr.now().Add(time.Minute)
		tr.add(1, late)
		tr.none("all of it waits")
		if st := tr.stats(); !st.NextDue.Equal(late.NotBefore) || st.Hosts != 1 {
			t.Errorf("%+v; want the next at %v", st, late.NotBefore)
		}
		tr.pass(time.Minute)
		tr.lease("w", "a", 1)
	})
	t.Run("turns", func(t *testing.T) {
		tr := begin(t, e)
		for _, host := range []string{"a", "b", "c"} {
			for n := range 4 {
				tr.add(1, url(host, n))
			}
		}
		count := map[string]int{}
		for range 12 {
			tr.pass(time.Millisecond)
			ls, err := tr.Claim(tr.ctx, "w", 1, 1, time.Minute)
			if err != nil || len(ls) != 1 {
				t.Fatal(len(ls), err)
			}
			tr.ok(tr.Complete(tr.ctx, ls[0], done(ls[0].Items...), nil))
			tr.ok(tr.Release(tr.ctx, ls[0], time.Time{}))
			count[ls[0].Host]++
			if c := count; max(c["a"], c["b"], c["c"]) > min(c["a"], c["b"], c["c"])+1 {
				t.Fatalf("hosts do not take turns: %v", c)
			}
		}
	})
	t.Run("many hosts", func(t *testing.T) {
		tr := begin(t, e)
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

// lease tests how a lease begins, lasts and ends.
func lease(t *testing.T, e Engine) {
	fenced := func(tr *trial, l *frontier.Lease, when string) {
		tr.Helper()
		_, more := tr.ClaimMore(tr.ctx, l, 1)
		for call, err := range map[string]error{
			"ClaimMore": more, "Complete": tr.Complete(tr.ctx, l, done(l.Items...), nil),
			"Extend": tr.Extend(tr.ctx, l, time.Hour), "Release": tr.Release(tr.ctx, l, tr.now().Add(time.Hour)),
		} {
			if !errors.Is(err, frontier.ErrFenced) {
				tr.Errorf("%s, %s: %v", call, when, err)
			}
		}
	}
	start := func(t *testing.T) (*trial, *frontier.Lease) {
		tr := begin(t, e)
		tr.add(3, url("a", 1), url("a", 2), url("a", 3))
		return tr, tr.lease("w", "a", 1)
	}
	t.Run("taken over", func(t *testing.T) {
		tr, dead := start(t)
		tr.none("a is leased")
		if st := tr.stats(); !st.NextDue.Equal(dead.Until) {
			t.Errorf("the next is due at %v; want the end of the lease, %v", st.NextDue, dead.Until)
		}
		tr.pass(time.Minute)
		l := tr.lease("x", "a", 1)
		if l.Epoch <= dead.Epoch || l.Items[0].URL != dead.Items[0].URL {
			t.Errorf("epoch %d after %d, %v", l.Epoch, dead.Epoch, urlsOf(l.Items))
		}
		fenced(tr, dead, "after another took over")
		tr.want(frontier.Done)
		tr.ok(tr.Complete(tr.ctx, l, done(l.Items...), nil))
		tr.want(frontier.Done, l.Items[0].URL)
	})
	t.Run("late", func(t *testing.T) {
		tr, l := start(t)
		tr.pass(time.Hour)
		if more, err := tr.ClaimMore(tr.ctx, l, 9); len(more) > 0 || err != nil {
			t.Errorf("a lease that is over gave %v, %v", urlsOf(more), err)
		}
		tr.ok(tr.Complete(tr.ctx, l, done(l.Items...), nil))
		tr.ok(tr.Extend(tr.ctx, l, time.Minute))
		tr.none("a is leased again")
		if more, err := tr.ClaimMore(tr.ctx, l, 9); len(more) != 2 || err != nil {
			t.Errorf("a lease that was extended gave %v, %v", urlsOf(more), err)
		}
	})
	t.Run("late, and nothing due", func(t *testing.T) {
		tr, l := start(t)
		var wait []frontier.Result
		for n := range 3 {
			wait = append(wait, frontier.Result{Item: url("a", n+1), Retry: tr.now().Add(2 * time.Hour)})
		}
		tr.ok(tr.Complete(tr.ctx, l, wait, nil))
		tr.pass(time.Hour)
		tr.none("all of it waits") // which is nobody's claim of a
		tr.ok(tr.Complete(tr.ctx, l, []frontier.Result{{Item: url("a", 1), Retry: tr.now().Add(time.Minute)}}, nil))
		if st := tr.stats(); !st.NextDue.Equal(tr.now().Add(time.Minute)) {
			t.Errorf("the next is due at %v, a minute after %v", st.NextDue, tr.now())
		}
		tr.add(1, url("a", 4))
		tr.lease("x", "a", 9)
		fenced(tr, l, "after another took over")
	})
	t.Run("released", func(t *testing.T) {
		tr, l := start(t)
		next := tr.now().Add(time.Second)
		tr.ok(tr.Release(tr.ctx, l, next))
		fenced(tr, l, "after Release")
		tr.none("a rests")
		if st := tr.stats(); !st.NextDue.Equal(next) {
			t.Errorf("the next is due at %v; want %v", st.NextDue, next)
		}
		tr.pass(time.Second)
		tr.lease("w", "a", 1)
	})
	t.Run("evicted", func(t *testing.T) {
		tr, l := start(t)
		tr.ok(tr.Evict(tr.ctx))
		fenced(tr, l, "after Evict")
		tr.lease("x", "a", 1)
		fenced(tr, l, "after Evict and Claim")
	})
	t.Run("blocked", func(t *testing.T) {
		tr, l := start(t)
		tr.ok(tr.BlockHost(tr.ctx, "a", tr.now().Add(time.Hour)))
		tr.ok(tr.BlockHost(tr.ctx, "a", tr.now().Add(time.Minute))) // no sooner
		if more, err := tr.ClaimMore(tr.ctx, l, 1); len(more) > 0 || err != nil {
			t.Errorf("a blocked host gave %v, %v", urlsOf(more), err)
		}
		tr.ok(tr.Release(tr.ctx, l, tr.now().Add(time.Second)))
		tr.pass(30 * time.Minute)
		tr.none("a is blocked")
		tr.pass(30 * time.Minute)
		tr.lease("w", "a", 1)

		tr.ok(tr.BlockHost(tr.ctx, "new", tr.now().Add(time.Hour))) // before anything of it is known
		tr.add(1, url("new", 1))
		tr.none("new is blocked")
	})
}
