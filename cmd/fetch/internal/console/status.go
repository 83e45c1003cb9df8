package console

import (
	"fmt"
	"time"

	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/cmd/fetch/internal/progress"
	"github.com/anyurl/fetch/cmd/fetch/internal/terminal"
)

// ProgressFlags are the flags that control how progress is shown.
type ProgressFlags struct {
	off      bool
	on       bool // ignored, because terminals show the progress by default
	interval options.Interval
}

// Register registers the flags.
func (f *ProgressFlags) Register(s *options.Set) {
	p := s.Section("Messages")
	p.BoolVar(&f.off, "no-progress-meter", false, "show no progress on a terminal")
	p.Var(&f.interval, "status", "without a terminal, print the progress after each `INTERVAL` (such as 30s)")
	p.BoolVarP(&f.on, "progress-bar", "#", false, "show progress bars (default on a terminal)")
	p.Lookup("progress-bar").Hidden = true
}

// A tracker collects the progress of a command.
type tracker interface {
	Lines(width int) []string
	Snapshot() progress.Snapshot
}

// A statusRecord is the JSON object that --status prints if --error-json is
// set.
type statusRecord struct {
	Type string `json:"type"` // always "status"
	progress.Snapshot
}

// ShowsProgress reports whether ShowProgress shows any progress.
func (s *Streams) ShowsProgress(f *ProgressFlags) bool {
	if terminal.Is(s.Stderr) {
		return !s.Silent && !f.off && !s.ErrorJSON && s.Log == nil
	}
	return !s.Silent && f.interval > 0
}

// ShowProgress shows the progress of t until the caller calls stop. On a
// terminal, the progress is shown in status lines below the messages. Otherwise
// it is printed in the interval of --status, in the form of text.
func (s *Streams) ShowProgress(f *ProgressFlags, t tracker, text func(*progress.Snapshot) string) (stop func()) {
	switch {
	case !s.ShowsProgress(f):
		return func() {}
	case !terminal.Is(s.Stderr):
		return progress.Every(time.Duration(f.interval), func() { s.printStatus(t.Snapshot(), text) })
	}
	stdout, stderr := s.Stdout, s.Stderr
	screen := progress.NewScreen(stderr, t.Lines)
	s.Stderr = screen
	if terminal.Is(stdout) { // for the output of -D - and -w
		s.Stdout = screen
	}
	return func() { screen.Close(); s.Stdout, s.Stderr = stdout, stderr }
}

// printStatus prints the progress of a command as one line.
func (s *Streams) printStatus(state progress.Snapshot, text func(*progress.Snapshot) string) {
	if s.Log != nil {
		s.Log.Info("progress", "progress", state)
		return
	}
	if s.ErrorJSON {
		Encode(s.Stderr, statusRecord{"status", state})
		return
	}
	fmt.Fprintf(s.Stderr, "fetch: %s\n", text(&state)) // the URL is already escaped
}

// PrintLastLine prints the last line of a download, if status lines are shown.
func (s *Streams) PrintLastLine(line func(width int) string) {
	if screen, ok := s.Stderr.(*progress.Screen); ok {
		fmt.Fprintln(screen, line(screen.Width()))
	}
}

// SizeText formats a number of bytes, such as "512 bytes" or "1.5 MiB".
func SizeText(n int64) string {
	if n < 1<<10 {
		return fmt.Sprint(n, " bytes")
	}
	return progress.Size(n)
}
