package progress

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/anyurl/fetch/mirror"
	"github.com/anyurl/fetch/wrap"
	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

// A Crawl displays the progress of a mirror in one line.
type Crawl struct {
	output  *mpb.Progress
	bar     *mpb.Bar
	started time.Time

	mu       sync.Mutex
	progress mirror.Progress
	bytes    int64            // size of all complete bodies
	bodies   map[uint64]int64 // bytes received of each body in transfer
}

// NewCrawl returns a Crawl that displays its line on the terminal w.
func NewCrawl(w io.Writer) *Crawl {
	b := &Crawl{output: newOutput(w), started: time.Now(), bodies: map[uint64]int64{}}
	b.bar = b.output.AddBar(0, mpb.PrependDecorators(decor.Any(b.line)))
	return b
}

func (b *Crawl) line(decor.Statistics) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	p, bytes := b.progress, b.bytes
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
	rate := float64(bytes) / max(time.Since(b.started).Seconds(), 1)
	return fmt.Sprintf("%s; %d left, hosts: %d; % .1f, % .1f/s ", text, p.Pending, p.Hosts,
		decor.SizeB1024(bytes), decor.SizeB1024(rate))
}

// Update displays the current progress of the mirror.
func (b *Crawl) Update(p mirror.Progress) {
	b.mu.Lock()
	b.progress = p
	b.mu.Unlock()
	done := p.New + p.Unchanged + p.Listed + p.Repaired + p.Failed + p.Unreached + p.Excluded + p.Gone
	b.bar.SetTotal(done+p.Pending, false)
	b.bar.SetCurrent(done)
}

// UpdateBody adds the bytes of unfinished downloads, which are reported by the
// Progress middleware. A [mirror.Progress] counts only complete bodies.
func (b *Crawl) UpdateBody(e wrap.Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.bodies[e.ID] = e.Bytes; e.State == wrap.Ended {
		b.bytes += e.Bytes
		delete(b.bodies, e.ID)
	}
}

// Write writes text above the line.
func (b *Crawl) Write(p []byte) (int, error) { return b.output.Write(p) }

// Close removes the progress line from the terminal.
func (b *Crawl) Close() {
	b.bar.Abort(true)
	b.output.Wait()
}
