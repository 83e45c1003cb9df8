package progress

import (
	"bytes"
	"io"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8/cwriter"
)

// refresh is the time between two updates of the status lines.
const refresh = 100 * time.Millisecond

// defaultWidth is the width of a terminal that does not report its width.
const defaultWidth = 80

// A Screen shows status lines at the bottom of a terminal. Text that is written
// to a Screen appears above the status lines. A Screen is safe for concurrent
// use.
type Screen struct {
	lines func(width int) []string
	stop  func()

	mu     sync.Mutex
	raw    io.Writer // the terminal
	output *cwriter.Writer
	shown  int  // number of status lines on the terminal
	midway bool // the last text did not end a line, so no status lines are shown
	closed bool
}

// NewScreen returns a Screen on the terminal w. It calls the function lines for
// the status lines, up to ten times per second. The caller must close the
// Screen.
func NewScreen(w io.Writer, lines func(width int) []string) *Screen {
	s := &Screen{lines: lines, raw: w, output: cwriter.New(w)}
	s.stop = Every(refresh, func() { s.write(nil, true) })
	return s
}

// Terminal returns true, because a Screen always writes to a terminal.
func (*Screen) Terminal() bool { return true }

// Write writes text above the status lines. While the text does not end with a
// line break, as in a prompt, no status lines are shown.
func (s *Screen) Write(p []byte) (int, error) { return s.write(p, false) }

// write writes text and the current status lines. If no status lines are shown,
// it writes them only if show is true.
func (s *Screen) write(p []byte, show bool) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.midway && len(p) == 0 {
		return 0, nil
	}
	s.output.Write(p)
	if len(p) > 0 {
		s.midway = !bytes.HasSuffix(p, []byte("\n"))
	}
	if s.shown > 0 { // the terminal may have printed ^C or a typed character below them
		io.WriteString(s.raw, "\r")
	}
	show = (show || s.shown > 0) && !s.closed && !s.midway
	s.shown = 0
	if show {
		for _, line := range s.lines(s.Width()) {
			s.output.WriteString(line + "\n")
			s.shown++
		}
	}
	if err := s.output.Flush(s.shown); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Width returns the number of columns of the terminal.
func (s *Screen) Width() int {
	if width, _, err := s.output.GetTermSize(); err == nil && width > 0 {
		return width
	}
	return defaultWidth
}

// Close removes the status lines.
func (s *Screen) Close() {
	s.stop()
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.Write(nil)
}

// Every calls f at each interval, in another goroutine. The function stop ends
// the calls, and waits until the last call of f has returned.
func Every(interval time.Duration, f func()) (stop func()) {
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		ticker := time.NewTicker(interval)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				f()
			case <-end:
				return
			}
		}
	}()
	return sync.OnceFunc(func() { close(end); <-ended })
}
