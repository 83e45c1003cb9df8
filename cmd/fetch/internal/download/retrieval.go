// Package download retrieves the URLs of a command line: one job for each, in
// order or in parallel.
package download

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"github.com/anyurl/fetch/cmd/fetch/internal/clientflags"
	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/cmd/fetch/internal/interactive"
	"github.com/anyurl/fetch/cmd/fetch/internal/objectflags"
	"github.com/anyurl/fetch/cmd/fetch/internal/rendering"
	"github.com/anyurl/fetch/cmd/fetch/internal/terminal"
	"github.com/anyurl/fetch/cmd/fetch/internal/transfer"
	"github.com/anyurl/fetch/cmd/fetch/internal/verification"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/trace"
	"github.com/anyurl/fetch/save"
	"github.com/anyurl/fetch/schemes/nntp"
	"github.com/anyurl/fetch/schemes/prospero"
	"github.com/anyurl/fetch/wrap"
)

// A Retrieval contains the state that all jobs of a command share.
type Retrieval struct {
	*console.Streams
	flags   *objectflags.Flags
	native  bool // if true, listings keep the format of the server
	listing bool // if true, the command lists directories
	dav     bool // if true, http and https URLs are treated as WebDAV URLs
	Client  *clientflags.OpenClient
	marks   *nntp.Marks          // positions in newsgroups, or nil
	console *interactive.Console // terminal for sessions, or nil
	meta    *transfer.MetaFile   // file of --meta, or nil
	warc    *warcFile            // file of --warc-file, or nil
	verify  *verification.Verifier
	render  *rendering.Renderer // for --render, or nil
	buffers sync.Pool           // buffers of type *[]byte
	notes   *trace.Trace        // prints the notes of all requests
	retried func()              // counts a repeated request in the status line, or nil
	Restart wrap.RetryOptions   // for retries after a body was interrupted

	processors processorLimit
	startMore  func() // starts the jobs that workers omits; called once
	openFolder sync.Once
	folder     *save.Folder // folder for files that are named after URLs, or nil

	dumping sync.Mutex // serializes writes to the file of -D
	dumped  bool       // this command has written to the file

	mu          sync.Mutex
	Tally       console.Tally
	interrupted bool // a job was interrupted by a signal and has reported it
}

// Options are the settings of a retrieval that depend on the command.
type Options struct {
	Listing  bool // if true, retrieve listings and articles as entries, and cache listings
	DAV      bool // if true, http and https URLs are treated as WebDAV URLs
	Native   bool // if true, listings keep the format of the server
	Prospero prospero.Options
	Progress func(wrap.Event) // hook for status lines, or nil
	retried  func()           // called before a request is sent again, or nil
}

// New returns a new retrieval. The caller must call Finish after the last
// request, and then close the client.
func New(ctx context.Context, s *console.Streams, f *objectflags.Flags, o Options) (*Retrieval, error) {
	r := &Retrieval{Streams: s, flags: f, native: o.Native, listing: o.Listing, dav: o.DAV, notes: s.Trace(), retried: o.retried}
	r.Restart = f.Client.RetryOptions(r.noteRestart)
	err := errors.Join(f.ValidateFiles(), f.Query.Validate(), f.Query.Read(s.Stdin))
	if err != nil {
		return nil, err
	}
	all, err := f.Schemes(s, o.Listing, o.Native)
	if err != nil {
		return nil, err
	}
	all.Prospero = o.Prospero
	r.marks = all.NNTP.Marks
	if in, ok := s.Stdin.(*os.File); ok && terminal.Is(in) && terminal.Is(s.Stdout) {
		r.console = interactive.New(in)
		all.Telnet.Mode = r.console.SetMode
	}
	spec := clientflags.Spec{
		Schemes: all, Context: f.Mail.Context, Object: &f.HTTP, HSTS: &f.HTTP.HSTS, Redirects: &f.Redirects, RedirectLogin: true, Transcript: s.Verbose,
		Middlewares: []fetch.Middleware{func(next fetch.Driver) fetch.Driver { return headerRecorder{next} }, f.HTTP.UpdateReferer},
		Standard: wrap.Options{
			Segments: min(f.Request.Segments, objectflags.MaxSegments), Retry: f.Client.RetryOptions(r.noteRetry),
			Polite: politeOptions(f), Rate: int64(f.Client.Limits.Rate), Progress: o.Progress,
		},
	}
	agent, err := f.Client.HTTP.Agent()
	if err != nil {
		return nil, err
	}
	if r.render = rendering.New(f.Body.Render, agent); r.render != nil {
		spec.Middlewares = append(spec.Middlewares, r.render.Middleware)
	}
	if o.Listing {
		spec.Standard.Cache = &wrap.CacheOptions{}
	}
	if r.warc, err = openWARCFile(f); err != nil {
		return nil, err
	}
	if r.warc != nil {
		spec.Innermost = []fetch.Middleware{r.warc.recorder.Middleware}
	}
	if r.Client, err = f.Client.Open(ctx, s, spec); err != nil {
		r.warc.close()
	}
	if r.render != nil && err == nil {
		r.render.Client = r.Client.Client
	}
	r.verify = f.Verify.Open(r.getTyped, r.Note)
	return r, err
}

// getTyped retrieves the object at a URL that the value of a flag names.
func (r *Retrieval) getTyped(ctx context.Context, text string) (*fetch.Response, error) {
	u, err := fetch.ParseURL(text)
	if err != nil {
		return nil, err
	}
	req := &fetch.Request{URL: u, Trace: r.notes}
	req.Auth = r.Client.Logins.Credential(req)
	return r.Client.Do(ctx, req)
}

// Finish completes the files of --meta and --warc-file, and saves the state of
// the client, such as cookies.
func (r *Retrieval) Finish() error {
	defer r.Interrupts.Hold()()
	r.render.Close()
	return errors.Join(r.meta.Close(), r.folder.Close(), r.Client.SaveState(), r.warc.close())
}

// politeOptions returns the limits for requests to one host, or nil if requests
// are not limited.
func politeOptions(f *objectflags.Flags) *wrap.PoliteOptions {
	limits := &f.Client.Limits
	if !f.Input.Parallel && limits.Delay <= 0 && !f.Request.Robots {
		return nil
	}
	o := &wrap.PoliteOptions{PerHost: limits.PerHost, Delay: time.Duration(limits.Delay)}
	if f.Input.Parallel && !limits.Set.Changed("per-host") && f.Request.Segments <= 1 && f.Client.Retry.Retries > 0 {
		o.MaxPerHost = f.Input.ParallelMax
	}
	if f.Request.Robots {
		o.Rule = wrap.Robots("fetch")
	}
	return o
}

// noteRestart prints a note that a new request continues a transfer or starts it
// again.
func (r *Retrieval) noteRestart(ctx context.Context, t wrap.Attempt) {
	next := t.Count + 1
	if n, ok := ctx.Value(attemptsKey{}).(*attemptCounter); ok {
		next = n.requests() + 1
	}
	r.countProgress()
	r.Streams.NoteRetry(t, t.Err, next, 0)
}

// noteRetry prints a note that a request will be sent again.
func (r *Retrieval) noteRetry(ctx context.Context, t wrap.Attempt) {
	next := countRetry(ctx, t.Count)
	r.countProgress()
	r.Streams.NoteRetry(t, t.Err, next, next-1+t.Remaining)
}

// countProgress counts a repeated request in the status line.
func (r *Retrieval) countProgress() {
	if r.retried != nil {
		r.retried()
	}
}

// BrowserSession runs an interactive session, such as telnet, that reads the
// input of the user from in. It behaves like fetch telnet://HOST.
func (r *Retrieval) BrowserSession(ctx context.Context, in io.Reader, resp *fetch.Response) error {
	if r.console == nil {
		out, flush := terminal.NewWriter(r.Stdout)
		return console.LocalError(errors.Join(interactive.Copy(out, in, resp), flush()))
	}
	r.Note("Control-] leaves the session")
	r.console.Input = in
	return console.LocalError(r.console.Run(ctx, r.Stdout, resp))
}
