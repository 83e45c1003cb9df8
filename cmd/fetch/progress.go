package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/wrap"
	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"
)

// bars show each body on its way, on a terminal.
type bars struct {
	shown *mpb.Progress

	mu  sync.Mutex
	all map[uint64]*mpb.Bar
}

// bars begins to show progress on standard error, if that is a terminal and
// the bodies do not go to the same one.
func (a *app) newBars() *bars {
	if a.flags.silent || a.flags.noProgress || !terminal(a.stderr) || terminal(a.stdout) && a.flags.toStdout(0) {
		return nil
	}
	return newBars(a.stderr, terminalWidth(a.stderr))
}

func newBars(w io.Writer, width int) *bars {
	return &bars{
		shown: mpb.New(mpb.WithOutput(w), mpb.WithWidth(min(width, 120)), mpb.WithAutoRefresh()),
		all:   map[uint64]*mpb.Bar{},
	}
}

func terminalWidth(w io.Writer) int {
	if f, ok := w.(*os.File); ok {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
			return width
		}
	}
	return 80
}

// show is told by wrap.Progress.
func (b *bars) show(e wrap.Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	bar := b.all[e.ID]
	if bar == nil {
		if e.State == wrap.Ended {
			return
		}
		bar = b.add(e)
		b.all[e.ID] = bar
	}
	bar.SetCurrent(e.Offset + e.Bytes)
	if e.State != wrap.Ended {
		return
	}
	delete(b.all, e.ID)
	if e.Err != nil {
		bar.Abort(false)
		return
	}
	bar.SetTotal(e.Offset+e.Bytes, true)
}

// add makes the bar of one body: its name, how much, how fast, how long yet.
func (b *bars) add(e wrap.Event) *mpb.Bar {
	name := decor.Name(barName(e.URL), decor.WCSyncSpaceR)
	p := pace{start: time.Now(), offset: e.Offset}
	speed := decor.Any(p.speed)
	if e.Size < 0 {
		return b.shown.AddSpinner(0, mpb.PrependDecorators(name), mpb.AppendDecorators(decor.CurrentKibiByte("% .1f"), speed))
	}
	bar := b.shown.AddBar(e.Size,
		mpb.PrependDecorators(name),
		mpb.AppendDecorators(decor.CountersKibiByte("% .1f / % .1f"), speed, decor.Any(p.left, decor.WC{W: 8})))
	if e.Offset > 0 {
		bar.SetRefill(e.Offset)
	}
	return bar
}

// pace is how fast a body comes: what an earlier attempt left does not count.
type pace struct {
	start  time.Time
	offset int64
}

func (p pace) rate(s decor.Statistics) float64 {
	return float64(s.Current-p.offset) / max(time.Since(p.start).Seconds(), 0.001)
}

func (p pace) speed(s decor.Statistics) string {
	return fmt.Sprintf(" % .1f/s", decor.SizeB1024(p.rate(s)))
}

func (p pace) left(s decor.Statistics) string {
	rate := p.rate(s)
	if rate <= 0 || s.Completed {
		return ""
	}
	return (time.Duration(float64(s.Total-s.Current)/rate) * time.Second).String()
}

const maxBarName = 28

// barName is the end of a URL, safe to show.
func barName(u uri.URI) string {
	name := []rune(plain(u.WithoutUserinfo().String()))
	if len(name) > maxBarName {
		return "…" + string(name[len(name)-maxBarName+1:])
	}
	return string(name)
}

// end leaves the last state on the screen.
func (b *bars) end() {
	if b == nil {
		return
	}
	b.mu.Lock()
	for id, bar := range b.all {
		bar.Abort(false)
		delete(b.all, id)
	}
	b.mu.Unlock()
	b.shown.Wait()
}

// Write says a line above the bars.
func (b *bars) Write(p []byte) (int, error) { return b.shown.Write(p) }
