package main

import (
	"fmt"
	"sync"
	"time"

	"github.com/anyurl/fetch/mirror"
	"github.com/anyurl/fetch/wrap"
	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

// crawlBar shows how far a mirror is, on a terminal.
type crawlBar struct {
	shown *mpb.Progress
	bar   *mpb.Bar
	began time.Time

	mu     sync.Mutex
	at     mirror.Progress
	bytes  int64            // of the bodies that ended
	bodies map[uint64]int64 // bytes of those on their way
}

// newCrawlBar begins to show a mirror on standard error, if that is a terminal
// and the events do not go to the same one.
func (a *app) newCrawlBar(events bool) *crawlBar {
	if a.flags.silent || a.flags.noProgress || !terminal(a.stderr) || events && terminal(a.stdout) {
		return nil
	}
	b := &crawlBar{began: time.Now(), bodies: map[uint64]int64{}}
	b.shown = mpb.New(mpb.WithOutput(a.stderr), mpb.WithWidth(min(terminalWidth(a.stderr), 120)), mpb.WithAutoRefresh())
	b.bar = b.shown.AddBar(0, mpb.PrependDecorators(decor.Any(b.line)))
	return b
}

func (b *crawlBar) line(decor.Statistics) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	p, bytes := b.at, b.bytes
	for _, n := range b.bodies {
		bytes += n
	}
	text := fmt.Sprintf("%d new", p.New)
	if p.Unchanged > 0 {
		text += fmt.Sprintf(", %d unchanged", p.Unchanged)
	}
	if failed := p.Failed + p.Unreached; failed > 0 {
		text += fmt.Sprintf(", %d failed", failed)
	}
	rate := float64(bytes) / max(time.Since(b.began).Seconds(), 1)
	return fmt.Sprintf("%s; %d left, hosts: %d; % .1f, % .1f/s ", text, p.Pending, p.Hosts, decor.SizeB1024(bytes), decor.SizeB1024(rate))
}

func (b *crawlBar) show(p mirror.Progress) {
	b.mu.Lock()
	b.at = p
	b.mu.Unlock()
	done := p.New + p.Unchanged + p.Listed + p.Repaired + p.Failed + p.Unreached + p.Excluded + p.Gone
	b.bar.SetTotal(done+p.Pending, false)
	b.bar.SetCurrent(done)
}

// body is told by wrap.Progress how far a body is: a mirror counts it at its
// end alone.
func (b *crawlBar) body(e wrap.Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.bodies[e.ID] = e.Bytes; e.State == wrap.Ended {
		b.bytes += e.Bytes
		delete(b.bodies, e.ID)
	}
}

// end takes the line away: the summary says what it said.
func (b *crawlBar) end() {
	b.bar.Abort(true)
	b.shown.Wait()
}
