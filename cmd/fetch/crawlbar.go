package main

import (
	"fmt"
	"sync"
	"time"

	"github.com/anyurl/fetch/mirror"
	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

// crawlBar shows how far a mirror is, on a terminal.
type crawlBar struct {
	app   *app
	shown *mpb.Progress
	bar   *mpb.Bar
	began time.Time

	mu sync.Mutex
	at mirror.Progress
}

// newCrawlBar begins to show a mirror on standard error, if that is a terminal
// and the events do not go to the same one.
func (a *app) newCrawlBar(events bool) *crawlBar {
	if a.flags.silent || a.flags.noProgress || !terminal(a.stderr) || events && terminal(a.stdout) {
		return nil
	}
	b := &crawlBar{app: a, began: time.Now()}
	b.shown = mpb.New(mpb.WithOutput(a.stderr), mpb.WithWidth(min(terminalWidth(a.stderr), 120)), mpb.WithAutoRefresh())
	b.bar = b.shown.AddBar(0, mpb.PrependDecorators(decor.Any(b.line)))
	return b
}

func (b *crawlBar) line(decor.Statistics) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	rate := float64(b.at.Bytes) / max(time.Since(b.began).Seconds(), 1)
	return fmt.Sprintf("%d new, %d as they were, %d failed; %d left of %d hosts; %.1f at % .1f/s",
		b.at.New, b.at.Same, b.at.Failed, b.at.Left, b.at.Hosts, decor.SizeB1024(b.at.Bytes), decor.SizeB1024(rate))
}

func (b *crawlBar) show(p mirror.Progress) {
	b.mu.Lock()
	b.at = p
	b.mu.Unlock()
	b.bar.SetTotal(p.New+p.Same+p.Failed+p.Excluded+p.Gone+p.Left, false)
	b.bar.SetCurrent(p.New + p.Same + p.Failed + p.Excluded + p.Gone)
}

func (b *crawlBar) end() {
	b.bar.Abort(false)
	b.shown.Wait()
}
