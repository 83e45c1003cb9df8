package mirrorcmd

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/mirror"
	"github.com/anyurl/fetch/uri"
)

// notifyTime limits the run time of the command of --notify.
const notifyTime = time.Minute

// A runSummary is the JSON object that the command of --notify reads.
type runSummary struct {
	Type      string  `json:"type"` // always "summary"
	Dir       string  `json:"dir"`
	Run       int64   `json:"run"`
	Exit      int     `json:"exit"`
	Error     string  `json:"error,omitempty"`
	New       int64   `json:"new"`
	Unchanged int64   `json:"unchanged"`
	Failed    int64   `json:"failed"`
	Newly     int64   `json:"newly_failed"`
	Unreached int64   `json:"unreached"`
	Left      int64   `json:"left"`
	Bytes     int64   `json:"bytes"`
	Seconds   float64 `json:"seconds"`
}

// notify runs the command of --notify after a run that ended with err. The
// environment variables FETCH_EXIT, FETCH_NEW, FETCH_FAILED and FETCH_DIR contain
// the most important values. They contain no text from servers.
func (r *mirrorRun) notify(ctx context.Context, sum mirror.Summary, err error) error {
	command := r.mirror.notify
	if command == "" {
		return nil
	}
	s := runSummary{
		Type: "summary", Dir: r.options.Dir, Run: sum.Run, New: sum.New, Unchanged: sum.Unchanged + sum.Listed, Failed: sum.Failed,
		Newly: sum.NewlyFailed, Unreached: sum.Unreached, Left: sum.Pending, Bytes: sum.Bytes, Seconds: time.Since(r.report.started).Seconds(),
	}
	if err != nil {
		s.Exit, s.Error = console.ExitCode(ctx, err), uri.Redact(err.Error())
	}
	var input bytes.Buffer
	if err := console.Encode(&input, s); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), notifyTime)
	defer cancel()
	shell := []string{"/bin/sh", "-c"}
	if runtime.GOOS == "windows" {
		shell = []string{"cmd", "/c"}
	}
	c := exec.CommandContext(ctx, shell[0], append(shell[1:], command)...)
	c.Stdin, c.Stdout, c.Stderr = &input, r.Stderr, r.Stderr
	c.WaitDelay = time.Second
	c.Env = append(withoutPasswords(os.Environ()), fmt.Sprint("FETCH_EXIT=", s.Exit), fmt.Sprint("FETCH_NEW=", s.New),
		fmt.Sprint("FETCH_FAILED=", s.Failed+s.Unreached), "FETCH_DIR="+s.Dir)
	if err := c.Run(); err != nil {
		return fetch.Local.Errorf("--notify: %w", err)
	}
	return nil
}

// withoutPasswords removes the passwords of fetch from an environment.
func withoutPasswords(environment []string) (kept []string) {
	for _, v := range environment {
		if !strings.HasPrefix(v, "FETCH_PASSWORD=") && !strings.HasPrefix(v, "FETCH_FRONTIER=") {
			kept = append(kept, v)
		}
	}
	return kept
}
