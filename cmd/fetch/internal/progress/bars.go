// Package progress shows the progress of downloads and mirrors on a terminal.
package progress

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/anyurl/fetch/cmd/fetch/internal/terminal"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/wrap"
	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

// maxWidth is the maximum width of progress bars, in columns.
const maxWidth = 120

// Bars displays one progress bar for each active download. Text that is written
// to a Bars appears above the progress bars.
type Bars struct {
	output *mpb.Progress

	mu   sync.Mutex
	bars map[uint64]*mpb.Bar // keyed by wrap.Event.ID
}

// NewBars returns a Bars that displays progress bars on the terminal w.
func NewBars(w io.Writer) *Bars { return &Bars{output: newOutput(w), bars: map[uint64]*mpb.Bar{}} }

func newOutput(w io.Writer) *mpb.Progress {
	return mpb.New(mpb.WithOutput(w), mpb.WithWidth(min(terminal.Width(w), maxWidth)), mpb.WithAutoRefresh())
}

// Terminal returns true, because a Bars always writes to a terminal.
func (*Bars) Terminal() bool { return true }

// Update updates the progress bars for an event of the Progress middleware.
func (b *Bars) Update(e wrap.Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	bar := b.bars[e.ID]
	if bar == nil {
		if e.State == wrap.Ended {
			return
		}
		bar = b.add(e)
		b.bars[e.ID] = bar
	}
	bar.SetCurrent(e.Offset + e.Bytes)
	if e.State != wrap.Ended {
		return
	}
	delete(b.bars, e.ID)
	if e.Err != nil {
		bar.Abort(false)
		return
	}
	bar.SetTotal(e.Offset+e.Bytes, true)
}

// add adds a progress bar for a download. The bar shows the URL, size, speed
// and remaining time.
func (b *Bars) add(e wrap.Event) *mpb.Bar {
	name := decor.Name(barName(e.URL), decor.WCSyncSpaceR)
	p := pace{start: time.Now(), offset: e.Offset}
	speed := decor.Any(p.speed)
	if e.Size < 0 {
		return b.output.AddSpinner(0, mpb.PrependDecorators(name),
			mpb.AppendDecorators(decor.CurrentKibiByte("% .1f"), speed))
	}
	bar := b.output.AddBar(e.Size,
		mpb.PrependDecorators(name),
		mpb.AppendDecorators(decor.CountersKibiByte("% .1f / % .1f"), speed, decor.Any(p.remaining, decor.WC{W: 8})))
	if e.Offset > 0 {
		bar.SetRefill(e.Offset)
	}
	return bar
}

// A pace measures the speed of a download. If the download was resumed, earlier
// bytes are not counted.
type pace struct {
	start  time.Time
	offset int64 // bytes of earlier attempts
}

func (p pace) rate(s decor.Statistics) float64 {
	return float64(s.Current-p.offset) / max(time.Since(p.start).Seconds(), 0.001)
}

func (p pace) speed(s decor.Statistics) string {
	return fmt.Sprintf(" % .1f/s", decor.SizeB1024(p.rate(s)))
}

func (p pace) remaining(s decor.Statistics) string {
	rate := p.rate(s)
	if rate <= 0 || s.Completed {
		return ""
	}
	return (time.Duration(float64(s.Total-s.Current)/rate) * time.Second).String()
}

// maxBarName limits the length of the URL beside a progress bar, in characters.
const maxBarName = 28

// barName returns the last characters of a URL, without user name and password.
func barName(u uri.URI) string {
	name := []rune(terminal.Plain(u.WithoutUserinfo().String()))
	if len(name) > maxBarName {
		return "…" + string(name[len(name)-maxBarName+1:])
	}
	return string(name)
}

// Close stops all progress bars. The last state of each bar stays visible.
func (b *Bars) Close() {
	b.mu.Lock()
	for id, bar := range b.bars {
		bar.Abort(false)
		delete(b.bars, id)
	}
	b.mu.Unlock()
	b.output.Wait()
}

// Write writes text above the bars.
func (b *Bars) Write(p []byte) (int, error) { return b.output.Write(p) }
