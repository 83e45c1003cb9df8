package download

import (
	"context"
	"errors"
	"runtime/debug"
	"sync"

	"github.com/anyurl/fetch/cmd/fetch/internal/arguments"
	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/cmd/fetch/internal/objectflags"
	"github.com/anyurl/fetch/cmd/fetch/internal/progress"
	"github.com/anyurl/fetch/cmd/fetch/internal/terminal"
	"github.com/anyurl/fetch/cmd/fetch/internal/transfer"
	"github.com/anyurl/fetch/fetch"
)

// All downloads each URL to a file or to standard output, as selected by
// flags such as -o. It shows the progress.
func All(ctx context.Context, s *console.Streams, f *objectflags.Flags, args []string, native bool) error {
	if len(f.Body.Output) > len(args)+f.Input.Count() && f.Input.File == "" {
		return fetch.Usage.Errorf("there are more -o flags than URLs")
	}
	if f.Verify.IsSet() && (f.Body.Include || f.Request.Head) {
		return fetch.Usage.Errorf("--checksum is the digest of the body alone, so verification excludes -i and -I")
	}
	o := Options{Native: native}
	bodyOnTerminal := terminal.Is(s.Stdout) && f.Body.ToStdout(0)
	if bodyOnTerminal && terminal.Is(s.Stderr) || !s.ShowsProgress(&f.Progress) {
		return ForEach(ctx, s, f, args, o, (*Job).Download)
	}
	all := progress.NewDownloads()
	o.Progress, o.retried = all.Update, all.Retry
	defer s.ShowProgress(&f.Progress, all, (*progress.Snapshot).Text)()
	if terminal.Is(s.Stderr) { // the last line of each download remains on the screen
		all.Ended = func(line func(int) string) { s.PrintLastLine(line) }
	}
	return ForEach(ctx, s, f, args, o, func(j *Job) error {
		end := all.Begin(j.Text)
		err := j.Download()
		end(err)
		return err
	})
}

// ForEach runs a job for each URL on the command line and in the input file. If
// a job fails, ForEach continues with the next URL. It returns the combined
// exit code.
func ForEach(ctx context.Context, s *console.Streams, f *objectflags.Flags, args []string, o Options,
	do func(*Job) error) error {
	if len(args)+f.Input.Count() == 0 && f.Input.File == "" {
		return fetch.Usage.Errorf("no URL; see fetch --help")
	}
	all, err := f.Arguments(s, args)
	if err == nil {
		err = f.CheckParallelOutput(all)
	}
	if err == nil {
		err = errors.Join(f.Verify.Check(f.CountURLs(all)), f.CheckSources(f.CountURLs(all)), f.CheckRender())
	}
	if err != nil {
		return err
	}
	r, err := New(ctx, s, f, o)
	if err != nil {
		return err
	}
	defer r.Client.Close()
	if r.meta, err = transfer.OpenMetaFile(f.Body.Meta); err != nil {
		return errors.Join(err, r.warc.close())
	}
	err = errors.Join(r.run(ctx, all, do), r.Finish())
	if r.Tally.Code == 0 {
		err = errors.Join(err, f.Mail.WriteMarks(r.marks))
	}
	if err != nil {
		return err
	}
	return r.Tally.Err()
}

// run calls do for the job of each URL, in several goroutines if -Z is set.
func (r *Retrieval) run(ctx context.Context, args []arguments.Argument, do func(*Job) error) error {
	workers := r.workers()
	if workers > 1 {
		// Parallel downloads of small files allocate many short-lived objects.
		// Less frequent garbage collection makes the downloads faster and costs
		// 10 MiB of memory.
		defer debug.SetGCPercent(debug.SetGCPercent(250))
		if r.warc == nil && !r.flags.WritesFiles() { // WARC compression and blocking file calls need several processors
			r.processors.set()
			defer r.processors.remove()
		}
	}
	queue := newJobQueue(ctx, r, args, workers > 1)
	var group sync.WaitGroup
	start := func(workers int) {
		for range workers {
			group.Go(func() {
				for j := queue.next(); j != nil; j = queue.next() {
					r.runJob(j, do)
				}
			})
		}
	}
	r.startMore = sync.OnceFunc(func() { start(r.maxWorkers() - workers) })
	start(workers)
	group.Wait()
	err := queue.close()
	if r.interrupted && err != nil && err == context.Cause(ctx) {
		return console.ExitError{Code: console.ExitCode(ctx, err)} // the job has already reported the interrupt
	}
	return err
}

// jobFiles is the maximum number of open files of a job: two connections, the
// output file, its state file and its directory. All other code of the process
// opens at most spareFiles.
const (
	jobFiles   = 5
	spareFiles = 16
)

// workers returns the number of jobs that run in parallel at the start. If
// bodies are written to standard output, more jobs than --per-host would only
// wait. Further jobs start when a server accepts more requests, see
// [turn.Limits].
func (r *Retrieval) workers() int {
	n := r.maxWorkers()
	if r.flags.Body.AnyToStdout() {
		n = min(n, r.flags.Client.Limits.PerHost/max(r.flags.Request.Segments, 1))
	}
	return max(n, 1)
}

// maxWorkers returns the maximum number of jobs that run in parallel. A job that
// waits for its turn to write to standard output still uses its connections.
// The requests of the job whose turn it is therefore exceed --per-host if
// necessary, see [turn.Limits].
func (r *Retrieval) maxWorkers() int {
	f := r.flags
	if !f.Input.Parallel {
		return 1
	}
	return max(min(f.Input.ParallelMax, (openFileLimit()-spareFiles)/jobFiles), 1)
}

// runJob runs one job, reports its error and records its exit code.
func (r *Retrieval) runJob(j *Job, do func(*Job) error) {
	err := do(j)
	if j.slot != nil {
		err = errors.Join(err, console.LocalError(j.slot.End()))
	}
	code := 0
	switch {
	case err == nil:
	case r.isFurtherInterrupt(j, err):
		code = console.ExitCode(j.ctx, err)
	default:
		code = r.Report(j.ctx, err, j.errorSource())
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Tally.Add(code)
}

// isFurtherInterrupt reports whether a signal ended the job, and an earlier job has
// reported this signal. With --error-json, each job reports it.
func (r *Retrieval) isFurtherInterrupt(j *Job, err error) bool {
	if j.ctx.Err() == nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	further := r.interrupted && !r.ErrorJSON && fetch.FaultOf(err) == fetch.Canceled
	r.interrupted = true
	return further
}
