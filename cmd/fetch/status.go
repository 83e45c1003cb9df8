package main

import (
	"fmt"
	"time"

	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/cmd/fetch/internal/progress"
	"github.com/anyurl/fetch/cmd/fetch/internal/terminal"
)

// progressFlags are the flags that control how progress is shown.
type progressFlags struct {
	off      bool
	on       bool // ignored, because terminals show the progress by default
	interval options.Interval
}

// register registers the flags.
func (f *progressFlags) register(s *options.Set) {
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

// showsProgress reports whether showProgress shows any progress.
func (s *streams) showsProgress(f *progressFlags) bool {
	if terminal.Is(s.stderr) {
		return !s.silent && !f.off && !s.errorJSON && s.log == nil
	}
	return !s.silent && f.interval > 0
}

// showProgress shows the progress of t until the caller calls stop. On a
// terminal, the progress is shown in status lines below the messages. Otherwise
// it is printed in the interval of --status, in the form of text.
func (s *streams) showProgress(f *progressFlags, t tracker, text func(*progress.Snapshot) string) (stop func()) {
	switch {
	case !s.showsProgress(f):
		return func() {}
	case !terminal.Is(s.stderr):
		return progress.Every(time.Duration(f.interval), func() { s.printStatus(t.Snapshot(), text) })
	}
	stdout, stderr := s.stdout, s.stderr
	screen := progress.NewScreen(stderr, t.Lines)
	s.stderr = screen
	if terminal.Is(stdout) { // for the output of -D - and -w
		s.stdout = screen
	}
	return func() { screen.Close(); s.stdout, s.stderr = stdout, stderr }
}

// printStatus prints the progress of a command as one line.
func (s *streams) printStatus(state progress.Snapshot, text func(*progress.Snapshot) string) {
	if s.log != nil {
		s.log.Info("progress", "progress", state)
		return
	}
	if s.errorJSON {
		encode(s.stderr, statusRecord{"status", state})
		return
	}
	fmt.Fprintf(s.stderr, "fetch: %s\n", text(&state)) // the URL is already escaped
}

// printLastLine prints the last line of a download, if status lines are shown.
func (s *streams) printLastLine(line func(width int) string) {
	if screen, ok := s.stderr.(*progress.Screen); ok {
		fmt.Fprintln(screen, line(screen.Width()))
	}
}

// sizeText formats a number of bytes, such as "512 bytes" or "1.5 MiB".
func sizeText(n int64) string {
	if n < 1<<10 {
		return fmt.Sprint(n, " bytes")
	}
	return progress.Size(n)
}
