package frontiertest

import (
	"errors"
	"testing"
	"time"

	"github.com/anyurl/fetch/mirror/internal/frontier"
)

// runControl pauses, resumes or excludes a host.
func (p *play) runControl() {
	host, op := p.randomHost(), p.intn(4)
	change := [...]func(*frontier.HostControl){exclude, pause, resume, resume}[op]
	p.note("control %s, %d", host, op)
	n, err := p.Control(p.ctx, host, change)
	if errors.Is(err, frontier.ErrUnknownHost) && p.model.lacks(host) {
		return
	}
	p.checkError(err, false)
	h, want := p.model.host(host), int64(0)
	switch op {
	case 0:
		want = p.model.exclude(host)
	default:
		h.control.Paused = op == 1
	}
	p.equal("number of excluded items", n, want)
}

func exclude(c *frontier.HostControl) { c.Excluded = true }
func pause(c *frontier.HostControl)   { c.Paused = true }
func resume(c *frontier.HostControl)  { c.Paused = false }

// control changes the settings of a host.
func (tr *trial) control(host string, change func(*frontier.HostControl)) int64 {
	tr.Helper()
	n, err := tr.Control(tr.ctx, host, change)
	tr.must(err)
	return n
}

// testControl checks that Control pauses, excludes and delays hosts.
func testControl(t *testing.T, e Engine) {
	start := func(t *testing.T) *trial {
		tr := newTrial(t, e)
		tr.add(4, url("a", 1), url("a", 2), url("a", 3), url("b", 1))
		return tr
	}
	t.Run("pause", func(t *testing.T) {
		tr := start(t)
		l := tr.lease("w", "a", 1)
		tr.control("a", pause)
		if more, err := tr.ClaimMore(tr.ctx, l, 9); len(more) > 0 || err != nil {
			t.Errorf("a paused host returned %v, %v", urlsOf(more), err)
		}
		tr.must(tr.Complete(tr.ctx, l, doneResults(l.Items...), nil)) // the request was under way
		tr.control("b", pause)
		if st := tr.stats(); st.Paused != 2 || st.Open != 1 || !st.NextDue.IsZero() {
			t.Errorf("with a lease: %+v; want one open host", st)
		}
		until := tr.now().Add(time.Hour)
		tr.must(tr.BlockHost(tr.ctx, "a", until)) // Retry-After of the last response
		tr.must(tr.Release(tr.ctx, l, time.Time{}))
		tr.add(1, url("a", 4))
		tr.noClaim("a and b are paused")
		if st := tr.stats(); st.Paused != 2 || st.Open != 0 || st.Hosts != 2 {
			t.Errorf("without a lease: %+v; want no open host", st)
		}
		tr.must(tr.Evict(tr.ctx))
		tr.advance(30 * time.Minute)
		tr.noClaim("a and b are still paused")
		tr.control("a", resume)
		tr.noClaim("a is blocked until the time of BlockHost")
		if st := tr.stats(); !st.NextDue.Equal(until) || st.Open != 1 {
			t.Errorf("%+v; want the next at %v", st, until)
		}
		tr.advance(30 * time.Minute)
		if l := tr.lease("w", "a", 9); len(l.Items) != 3 || l.Control != (frontier.HostControl{Host: "a"}) {
			t.Errorf("claimed %v with %+v", urlsOf(l.Items), l.Control)
		}
	})
	t.Run("exclude", func(t *testing.T) {
		tr := start(t)
		l := tr.lease("w", "a", 2)
		if n := tr.control("a", exclude); n != 3 {
			t.Errorf("%d items were excluded, want 3", n)
		}
		tr.want(frontier.Excluded, "http://a/1", "http://a/2", "http://a/3")
		tr.must(tr.Complete(tr.ctx, l, []frontier.Result{
			{Item: l.Items[0], State: frontier.Done}, {Item: l.Items[1], Retry: tr.now().Add(time.Second)},
		}, nil)) // the requests were under way
		tr.must(tr.Release(tr.ctx, l, time.Time{}))
		tr.want(frontier.Done, "http://a/1")
		tr.want(frontier.Excluded, "http://a/3")
		if st := tr.stats(); st.States[frontier.Pending] != 2 || st.States[frontier.Excluded] != 1 || st.Hosts != 2 {
			t.Errorf("%+v; want two pending items and one excluded item", st)
		}
		tr.advance(time.Second)
		tr.lease("w", "b", 1)
		if l := tr.lease("w", "a", 9); !l.Control.Excluded || len(l.Items) != 1 {
			t.Errorf("claimed %v with %+v; the worker must exclude the item", urlsOf(l.Items), l.Control)
		}
		n, err := tr.Requeue(tr.ctx, frontier.Excluded)
		all, err2 := tr.Controls(tr.ctx, nil)
		if n != 1 || len(all) != 0 || err != nil || err2 != nil {
			t.Errorf("Requeue: %d, %v; then %v, %v; want one item and no excluded host", n, err, all, err2)
		}
	})
	t.Run("delay", func(t *testing.T) {
		tr := start(t)
		l := tr.lease("w", "a", 1)
		tr.control("a", func(c *frontier.HostControl) { c.CrawlDelay = 10 * time.Second })
		tr.advance(time.Minute)
		tr.add(1, url("a", 5))
		if got := tr.lease("w", "b", 1); got.Control != (frontier.HostControl{Host: "b"}) {
			t.Errorf("settings of b: %+v", got.Control)
		}
		tr.noClaim("the lease ended without Release, and the delay has not passed")
		tr.must(tr.Complete(tr.ctx, l, doneResults(l.Items...), nil))
		tr.advance(10 * time.Second)
		want := frontier.HostControl{Host: "a", CrawlDelay: 10 * time.Second}
		if l = tr.lease("x", "a", 1); l.Control != want {
			t.Errorf("the next lease has the settings %+v; want %+v", l.Control, want)
		}
		tr.control("a", func(c *frontier.HostControl) { c.Delay = 20 * time.Second })
		tr.must(tr.Evict(tr.ctx))
		tr.advance(19 * time.Second)
		tr.lease("w", "b", 1) // Evict has also ended the lease of b
		tr.noClaim("the process of the lease may have sent a request before Evict")
		tr.advance(time.Second)
		tr.lease("w", "a", 1)
		want.Delay = 20 * time.Second
		got, err := tr.Controls(tr.ctx, []string{"a", "b", "c"})
		if err != nil || len(got) != 1 || got["a"] != want {
			t.Errorf("settings: %+v, %v; want %+v", got, err, want)
		}
	})
	t.Run("unknown host", func(t *testing.T) {
		tr := start(t)
		if _, err := tr.Control(tr.ctx, "none", pause); !errors.Is(err, frontier.ErrUnknownHost) {
			t.Errorf("an unknown host: %v", err)
		}
	})
}
