package main

import (
	"context"
	"errors"
	"runtime/debug"
	"sync"

	"github.com/anyurl/fetch/cmd/fetch/internal/progress"
	"github.com/anyurl/fetch/cmd/fetch/internal/terminal"
	"github.com/anyurl/fetch/fetch"
)

// download retrieves each URL and writes its object to the destination that the
// flags select. It shows progress bars on a terminal.
func (f *objectFlags) download(ctx context.Context, s *streams, args []string, native bool) error {
	if len(f.body.output) > len(args) && f.input.file == "" {
		return fetch.Usage.Errorf("there are more -o flags than URLs")
	}
	if f.body.checksum != nil && (f.body.include || f.request.head) {
		return fetch.Usage.Errorf("--checksum is the digest of the body alone, so it excludes -i and -I")
	}
	o := retrievalOptions{native: native}
	bodyOnTerminal := terminal.Is(s.stdout) && f.body.toStdout(0)
	if !s.silent && !f.progress.off && terminal.Is(s.stderr) && !bodyOnTerminal {
		bars := progress.NewBars(s.stderr)
		screen := s.stderr
		s.stderr, o.progress = bars, bars.Update // messages appear above the bars
		defer func() { bars.Close(); s.stderr = screen }()
	}
	return f.forEach(ctx, s, args, o, (*job).download)
}

// forEach calls do for each URL of the arguments and the input file. An error
// of one URL does not stop the others. forEach returns the combined exit code.
func (f *objectFlags) forEach(ctx context.Context, s *streams, args []string, o retrievalOptions,
	do func(*job) error) error {
	if len(args) == 0 && f.input.file == "" {
		return fetch.Usage.Errorf("no URL; see fetch --help")
	}
	r, err := f.open(ctx, s, o)
	if err != nil {
		return err
	}
	defer r.client.close()
	if r.meta, err = openMeta(f.body.meta); err != nil {
		return err
	}
	err = errors.Join(r.run(ctx, args, do), r.meta.Close(), r.folder.Close(), r.client.saveCookies())
	if r.tally.code == 0 {
		err = errors.Join(err, f.mail.writeMarks(r.marks))
	}
	if err != nil {
		return err
	}
	return r.tally.err()
}

// run distributes the URLs to workers.
func (r *retrieval) run(ctx context.Context, args []string, do func(*job) error) error {
	workers := r.workers()
	if workers > 1 {
		// Many small bodies are short-lived garbage. Frequent collections cost
		// more than the 16 MiB that they save.
		defer debug.SetGCPercent(debug.SetGCPercent(400))
	}
	queue := newJobQueue(ctx, r, args, workers > 1)
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for j := queue.next(); j != nil; j = queue.next() {
				r.runJob(j, do)
			}
		})
	}
	group.Wait()
	return queue.close()
}

// Each job needs up to jobFiles open files: two connections, a file, its state
// and its folder. The process needs spareFiles more.
const (
	jobFiles   = 5
	spareFiles = 16
)

// workers returns the number of jobs that run at a time. A job that waits for
// its turn to write to standard output keeps its place at a host. With more
// jobs than places, the next job in order could find no place and never run.
func (r *retrieval) workers() int {
	f := r.flags
	if !f.input.parallel {
		return 1
	}
	n := min(f.input.parallelMax, (openFileLimit()-spareFiles)/jobFiles)
	if f.body.anyToStdout() {
		n = min(n, f.client.limits.perHost/max(f.request.segments, 1))
	}
	return max(n, 1)
}

// runJob runs one job, reports its error and records its exit code.
func (r *retrieval) runJob(j *job, do func(*job) error) {
	err := do(j)
	if j.slot != nil {
		err = errors.Join(err, local(j.slot.End()))
	}
	code := 0
	if err != nil {
		code = r.report(j.ctx, err, j.errorSource())
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tally.add(code)
}
