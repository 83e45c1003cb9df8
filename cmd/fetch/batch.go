package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"sync"

	"github.com/anyurl/fetch/cmd/fetch/internal/arguments"
	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/cmd/fetch/internal/glob"
	"github.com/anyurl/fetch/cmd/fetch/internal/progress"
	"github.com/anyurl/fetch/cmd/fetch/internal/terminal"
	"github.com/anyurl/fetch/cmd/fetch/internal/transfer"
	"github.com/anyurl/fetch/fetch"
)

// download downloads each URL to a file or to standard output, as selected by
// flags such as -o. It shows the progress.
func (f *objectFlags) download(ctx context.Context, s *console.Streams, args []string, native bool) error {
	if len(f.body.output) > len(args)+f.input.count() && f.input.file == "" {
		return fetch.Usage.Errorf("there are more -o flags than URLs")
	}
	if f.body.checksum != nil && (f.body.include || f.request.head) {
		return fetch.Usage.Errorf("--checksum is the digest of the body alone, so it excludes -i and -I")
	}
	o := retrievalOptions{native: native}
	bodyOnTerminal := terminal.Is(s.Stdout) && f.body.toStdout(0)
	if bodyOnTerminal && terminal.Is(s.Stderr) || !s.ShowsProgress(&f.progress) {
		return f.forEach(ctx, s, args, o, (*job).download)
	}
	all := progress.NewDownloads()
	o.progress, o.retried = all.Update, all.Retry
	defer s.ShowProgress(&f.progress, all, (*progress.Snapshot).Text)()
	if terminal.Is(s.Stderr) { // the last line of each download remains on the screen
		all.Ended = func(line func(int) string) { s.PrintLastLine(line) }
	}
	return f.forEach(ctx, s, args, o, func(j *job) error {
		end := all.Begin(j.Text)
		err := j.download()
		end(err)
		return err
	})
}

// forEach runs a job for each URL on the command line and in the input file. If
// a job fails, forEach continues with the next URL. It returns the combined
// exit code.
func (f *objectFlags) forEach(ctx context.Context, s *console.Streams, args []string, o retrievalOptions,
	do func(*job) error) error {
	if len(args)+f.input.count() == 0 && f.input.file == "" {
		return fetch.Usage.Errorf("no URL; see fetch --help")
	}
	all, err := f.arguments(s, args)
	if err == nil {
		err = f.checkParallelOutput(all)
	}
	if err != nil {
		return err
	}
	r, err := f.open(ctx, s, o)
	if err != nil {
		return err
	}
	defer r.client.Close()
	if r.meta, err = transfer.OpenMetaFile(f.body.meta); err != nil {
		return errors.Join(err, r.warc.close())
	}
	err = errors.Join(r.Run(ctx, all, do), r.meta.Close(), r.folder.Close(), r.client.SaveState(), r.warc.close())
	if r.tally.Code == 0 {
		err = errors.Join(err, f.mail.WriteMarks(r.marks))
	}
	if err != nil {
		return err
	}
	return r.tally.Err()
}

// arguments converts the URLs on the command line and those in the files of -K
// to arguments.
func (f *objectFlags) arguments(s *console.Streams, typed []string) ([]arguments.Argument, error) {
	all, err := arguments.Parse(s, slices.Concat(typed, f.input.urls), arguments.Options{
		Configured: f.input.configured, InputFile: f.input.file, DefaultScheme: f.client.Policy.ProtoDefault, GlobOff: f.input.globOff,
	})
	for _, a := range all {
		if err == nil && a.Pattern != nil {
			err = f.checkGlobOutput(a)
		}
	}
	return all, err
}

// checkGlobOutput returns an error if all URLs of a glob would replace the same
// output file.
func (f *objectFlags) checkGlobOutput(a arguments.Argument) error {
	if a.Index >= len(f.body.output) {
		return nil
	}
	name := f.body.output[a.Index]
	_, first := a.Pattern.Expansion(0)
	_, last := a.Pattern.Expansion(a.Pattern.Count() - 1)
	if glob.Substitute(name, first) != glob.Substitute(name, last) {
		return nil
	}
	return f.checkSharedOutput(a.Index, a.Pattern.Count(), "use #1 in the name")
}

// checkSharedOutput returns an error if count URLs would replace the same output
// file, which belongs to the argument with the given index.
func (f *objectFlags) checkSharedOutput(index int, count int64, advice string) error {
	if count == 1 || index >= len(f.body.output) || f.body.output[index] == "-" || f.file.noClobber {
		return nil
	}
	name := f.body.output[index]
	if isDevice(name) {
		return nil
	}
	return fetch.Usage.Errorf("-o %q is one file for %d URLs: %s", name, count, advice)
}

// maxNames is the maximum number of URLs of arguments and globs whose file names
// are compared before the start of parallel downloads.
const maxNames = 10_000

// checkParallelOutput returns an error if two URLs of the command line have the
// same output file and -Z is set, because either body could remain. Names that
// the server sends, and URLs of an input file, are unknown before the start.
func (f *objectFlags) checkParallelOutput(args []arguments.Argument) error {
	if !f.input.parallel || f.file.noClobber || f.body.remoteHeaderName || !f.writesFiles() {
		return nil
	}
	owners := map[string]string{}
	for list := (arguments.Reader{Args: args}); len(list.Args) > 0 && len(owners) < maxNames; {
		a := list.NextArgument()
		u, _, err := a.Parse(f.client.Policy.ProtoDefault)
		if err != nil {
			continue // the job reports the error
		}
		name, err := f.body.fileName(u.Path(), a.Index, a.Values)
		if err != nil || name == "" {
			continue
		}
		name = filepath.Clean(name)
		if owner, taken := owners[name]; taken && !isDevice(name) {
			return fetch.Usage.Errorf("%q is the file of two URLs, %s and %s: use -o for each, or --no-clobber", name, owner, u)
		}
		owners[name] = u.String()
	}
	return nil
}

// isDevice reports whether name is an existing file of another type than a
// regular file, such as a device or a pipe.
func isDevice(name string) bool {
	info, err := os.Stat(name)
	return err == nil && !info.Mode().IsRegular()
}

// writesFiles reports whether a body may be written to a file. A device also
// counts as a file.
func (f *objectFlags) writesFiles() bool {
	return f.body.remoteName || f.body.outputDir != "" || slices.ContainsFunc(f.body.output, func(name string) bool { return name != "-" })
}

// Run calls do for the job of each URL, in several goroutines if -Z is set.
func (r *retrieval) Run(ctx context.Context, args []arguments.Argument, do func(*job) error) error {
	workers := r.workers()
	if workers > 1 {
		// Parallel downloads of small files allocate many short-lived objects.
		// Less frequent garbage collection makes the downloads faster and costs
		// 10 MiB of memory.
		defer debug.SetGCPercent(debug.SetGCPercent(250))
		if r.warc == nil && !r.flags.writesFiles() { // WARC compression and blocking file calls need several processors
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
// wait. Further jobs start at the first response over HTTP/2, because such a
// server gets more requests.
func (r *retrieval) workers() int {
	n := r.maxWorkers()
	if r.flags.body.anyToStdout() {
		n = min(n, r.flags.client.Limits.PerHost/max(r.flags.request.segments, 1))
	}
	return max(n, 1)
}

// maxWorkers returns the maximum number of jobs that run in parallel. A job that
// waits for its turn to write to standard output still uses its connections.
// The requests of the job whose turn it is therefore exceed --per-host if
// necessary, see [turnOf].
func (r *retrieval) maxWorkers() int {
	f := r.flags
	if !f.input.parallel {
		return 1
	}
	return max(min(f.input.parallelMax, (openFileLimit()-spareFiles)/jobFiles), 1)
}

// runJob runs one job, reports its error and records its exit code.
func (r *retrieval) runJob(j *job, do func(*job) error) {
	err := do(j)
	if j.slot != nil {
		err = errors.Join(err, console.LocalError(j.slot.End()))
	}
	code := 0
	if err != nil {
		code = r.Report(j.ctx, err, j.errorSource())
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tally.Add(code)
	r.interrupted = r.interrupted || err != nil && j.ctx.Err() != nil
}
