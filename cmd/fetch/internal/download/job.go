package download

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/anyurl/fetch/cmd/fetch/internal/clientflags"
	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/cmd/fetch/internal/interactive"
	"github.com/anyurl/fetch/cmd/fetch/internal/listing"
	"github.com/anyurl/fetch/cmd/fetch/internal/ordered"
	"github.com/anyurl/fetch/cmd/fetch/internal/sink"
	"github.com/anyurl/fetch/cmd/fetch/internal/transfer"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/tty"
	"github.com/anyurl/fetch/internal/format/entries"
	"github.com/anyurl/fetch/internal/wire/splice"
	"github.com/anyurl/fetch/save"
	"github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/warc"
)

// A Job retrieves one URL.
type Job struct {
	*Retrieval
	transfer.Transfer
	ctx    context.Context
	Output io.Writer
	slot   *ordered.Slot // output of the job, or nil for standard output

	attempts attemptCounter
	headers  bytes.Buffer // response headers of the last call of Do
}

// ErrorSource returns the line number of the URL and the number of requests
// that the job has sent, for use in error messages.
func (j *Job) errorSource() console.ErrorSource {
	return console.ErrorSource{Line: j.Line, Attempts: j.attempts.requests()}
}

// request sends req and counts the request. If -w prints variables of the
// response, request also keeps an error page that fails.
func (j *Job) request(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
	j.attempts.calls.Add(1)
	j.ErrorPage = nil
	if req.ErrorBody || j.flags.Body.WriteOut == "" {
		return j.Client.Do(ctx, req)
	}
	req = req.Clone()
	req.ErrorBody = true
	resp, err := j.Client.Do(ctx, req)
	if err != nil || resp.Fault == nil {
		return resp, err
	}
	j.ErrorPage = resp
	if resp.Size >= 0 && resp.Size <= 4<<10 { // read to the end, so that the connection can be reused
		io.Copy(io.Discard, resp.Body)
	}
	resp.Body.Close()
	return nil, resp.Fault
}

// Download retrieves the URL and then writes the reports that --meta and -w
// request.
func (j *Job) Download() error {
	if j.meta != nil || j.flags.Body.WriteOut != "" {
		j.Measure = transfer.NewMeasure(j.meta != nil)
	}
	err := j.retrieve()
	j.Measure.Stop()
	j.Requests, j.Failure = max(j.attempts.requests(), 1), err
	if err != nil {
		j.Exit = console.ExitCode(j.ctx, err)
	}
	return errors.Join(err, j.meta.Write(&j.Transfer), j.writeOut())
}

// WriteOut expands the format of -w and prints the result.
func (j *Job) writeOut() error {
	format := j.flags.Body.WriteOut
	if format == "" {
		return nil
	}
	w := &transfer.WriteOut{Transfer: &j.Transfer, Head: j.flags.Request.Head, Note: j.Note}
	return w.Print(format, j.Stdin, j.Output, j.Stderr)
}

// retrieve downloads the URL to the file or stream that the flags select.
func (j *Job) retrieve() (err error) {
	req, err := j.NewRequest(j.Argument)
	if err != nil {
		return err
	}
	req.Trace = j.Measure.Trace(req.Trace)
	j.Warc.preventResume(req)
	out, err := j.openSink(req)
	if j.flags.File.SkipExisting && errors.Is(err, fetch.Exists) {
		j.Note("%v: skipped", err)
		return nil
	}
	if err != nil {
		return err
	}
	defer out.Close()
	j.Sink = out
	defer func() { j.notePartialFile(err) }()
	if limit := time.Duration(j.flags.Client.Limits.MaxTime); limit > 0 { // applies to all attempts together
		var cancel context.CancelFunc
		j.ctx, cancel = context.WithTimeoutCause(j.ctx, limit,
			fetch.Timeout.Errorf("the transfer took longer than %v (--max-time)", limit))
		defer cancel()
	}
	return save.Transfer(j.ctx, j, req, (*receiver)(j), j.Restart)
}

// notePartialFile prints a note about the partial file of a transfer that failed
// with err: that the same command resumes the transfer, that -C - could not
// keep the file, or that an interrupt has removed the file.
func (j *Job) notePartialFile(err error) {
	kept := j.Sink.State()
	if err == nil || kept.Offset == 0 || j.Sink.Name() == sink.StandardOutput {
		return
	}
	resumable, resumes := kept.Validator != "", j.flags.Body.ContinueAt == "-"
	switch {
	case resumable && resumes:
		j.Note("%d bytes are saved; run the same command again to resume", kept.Offset)
	case !resumes && !errors.Is(err, fetch.Canceled):
	case resumable:
		j.Note("the partial file is removed (%s); -C - keeps it and resumes", console.SizeText(kept.Offset))
	default:
		j.Note("the partial file is removed (%s)%s", console.SizeText(kept.Offset), j.resumeProblem())
	}
}

// resumeProblem returns the reason why the body of the last response cannot be
// resumed, as the end of a note. It returns "" if the reason is unknown.
func (j *Job) resumeProblem() string {
	switch {
	case j.Resp == nil || j.Resp.Validator != "":
		return ""
	case j.Client.Scheme(j.Resp.URL.Scheme()).Traits.Web:
		return ": without a strong ETag or an old Last-Modified, its bytes could belong to another version than the rest"
	}
	return ": the server does not identify the version of the object"
}

// proposedName returns the file name in the Content-Disposition header field of
// the response, without unsafe characters. If there is none and the request was
// redirected, proposedName returns the last part of the final URL. It returns ""
// if the server proposes no name.
func (j *Job) proposedName() string {
	name := safeName(http.Filename(j.Resp.Header.Get("Content-Disposition")))
	if name == "" && len(j.Resp.Chain) > 0 {
		name, _ = save.Name(j.Resp.URL.Path()) // if it is empty, the name in the first URL is used
	}
	return name
}

// safeName escapes the unsafe characters in the file name that a server proposes.
// Unlike save.Name, it keeps characters that are unsafe in URLs only.
func safeName(proposed string) string {
	name, err := save.Name("/" + uri.Escape(strings.Trim(proposed, " "), uri.Segment))
	if err != nil {
		return ""
	}
	return strings.NewReplacer("%20", " ", "%23", "#", "%5B", "[", "%5D", "]", "%7B", "{", "%7D", "}").Replace(name)
}

// Do sends req and returns the response. It also writes the response header for
// -D and the ETag for --etag-save.
func (j *Job) Do(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
	j.headers.Reset()
	if j.flags.RecordsHeaders() || req.Op == fetch.Stat {
		ctx = withHeaderBuffer(ctx, &j.headers)
	}
	// Only the first request of the command truncates the file of -D. Later
	// requests append to the file.
	later := j.Number > 0 || j.attempts.calls.Load() > 0
	resp, err := j.request(ctx, req)
	if err == nil {
		resp, err = j.completeOld(ctx, req, resp)
	}
	if failed := j.flags.DumpHeader(j.Output, j.headers.Bytes(), later); failed != nil {
		if err == nil {
			resp.Body.Close()
		}
		return nil, failed
	}
	if err != nil {
		return nil, err
	}
	j.Resp = resp
	if err := j.flags.HTTP.SaveETag(resp); err != nil {
		resp.Body.Close()
		return nil, err
	}
	return resp, nil
}

// A receiver implements [save.Sink]. It writes a body to the sink of a job.
type receiver Job

func (r *receiver) State() save.State { return r.Sink.State() }
func (r *receiver) Restarts() bool    { return r.Sink.Restarts() }

// Receive writes the body of resp to the sink. It also verifies --checksum and
// commits the file.
func (r *receiver) Receive(req *fetch.Request, resp *fetch.Response) error {
	j, out := (*Job)(r), r.Sink
	if err := out.Begin(j.flags.State(req, resp)); err != nil {
		return err
	}
	if err := j.copy(out, req, resp); err != nil {
		return err
	}
	if resp.Trailer != nil {
		if text := clientflags.FieldLines(resp.Trailer()); len(text) > 0 {
			if err := j.flags.DumpHeader(j.Output, text, true); err != nil {
				return err
			}
		}
	}
	if j.flags.File.RemoteTime {
		out.SetTime(resp.Time)
	}
	if j.flags.Body.Checksum != nil {
		if err := j.flags.Body.Verify(out.Sum()); err != nil {
			out.Abort()
			return err
		}
	}
	var fault error
	if j.flags.Request.FailWithBody {
		fault = resp.Fault
	}
	return errors.Join(fault, out.Commit())
}

// copyBufferSize is the size of a copy buffer in bytes. With this size, system
// calls do not limit the speed.
const copyBufferSize = 256 << 10

// smallBufferSize is the size of the copy buffer for bodies of at most this
// size. Clearing a large buffer takes longer than reading a small body.
const smallBufferSize = 32 << 10

// buffer returns a buffer from the pool of buffers, or a new one, for a body of
// the given size. The size is -1 if it is unknown.
func (r *Retrieval) buffer(size int64) *[]byte {
	n := copyBufferSize
	if 0 <= size && size <= smallBufferSize {
		n = smallBufferSize
	}
	if b, ok := r.buffers.Get().(*[]byte); ok && len(*b) >= n {
		return b
	}
	b := make([]byte, n)
	return &b
}

// copy writes the body of resp to out. Depending on the flags, it also writes
// the headers, formats a listing or converts messages.
func (j *Job) copy(out sink.Sink, req *fetch.Request, resp *fetch.Response) error {
	if j.flags.Body.Include || req.Op == fetch.Stat {
		if _, err := out.Write(j.headers.Bytes()); err != nil {
			return console.LocalError(err)
		}
	}
	if req.Op == fetch.Stat {
		return nil
	}
	resp.Body = j.Measure.Body(resp.Body)
	if resp.Kind == fetch.Menu && !j.native {
		switch {
		case out.Terminal():
			return listing.WriteMenu(out, resp)
		case entries.IsMedia(resp.Media):
			return listing.WriteNames(out, resp)
		}
	}
	if resp.Input != nil {
		return j.session(out, resp)
	}
	if out.Terminal() {
		if err := requireText(resp); err != nil {
			return err
		}
	}
	if j.flags.Mail.Converts() {
		return console.LocalError(j.flags.Mail.Convert(out, resp, j.Note))
	}
	j.observe(resp)
	buffer := j.buffer(resp.Size)
	defer j.buffers.Put(buffer)
	_, err := splice.Copy(out, resp.Body, *buffer)
	return console.LocalError(err)
}

// session connects standard input and output to an interactive server, such as
// a telnet server. On a terminal, the user can leave the session with
// Control-].
func (j *Job) session(out sink.Sink, resp *fetch.Response) error {
	if out.Terminal() && j.console != nil {
		j.Note("Control-] leaves the session")
		return console.LocalError(j.console.Run(j.ctx, j.Output, resp))
	}
	return console.LocalError(interactive.Copy(out, j.Stdin, resp))
}

// requireText returns an error if the body of resp is binary, because binary
// data must not be written to a terminal.
func requireText(resp *fetch.Response) error {
	prefix := make([]byte, 1024)
	n, err := io.ReadAtLeast(resp.Body, prefix, 1) // the server may send more bytes later
	if err != nil && err != io.EOF {
		return err
	}
	prefix = prefix[:n]
	if !tty.IsText(prefix) {
		return fetch.Local.Errorf("the body is binary and standard output is a terminal: use -o FILE")
	}
	resp.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(prefix), resp.Body), resp.Body}
	return nil
}

// List writes a listing of the URL, or of the records in a WARC or WACZ file.
func (j *Job) List(write listing.Writer) error {
	if clientflags.IsArchive(j.Text) {
		return write.WriteAll(j.Output, warc.FileEntries(j.Text))
	}
	w, err := j.Wildcard(j.Argument)
	if err != nil {
		return err
	}
	var req *fetch.Request
	if w != nil {
		req, err = j.listRequest(w)
	} else {
		req, err = j.NewRequest(j.Argument)
	}
	if err != nil {
		return err
	}
	req.Op = fetch.Get
	resp, err := j.request(j.ctx, req)
	if err != nil {
		return err
	}
	if w == nil {
		if resp, err = j.withSlash(req, resp); err != nil {
			return err
		}
	}
	defer resp.Body.Close()
	return write.WriteAll(j.Output, w.entries(resp.Entries()))
}

// ListCaptures writes the captures of the URL in the archive. It is an error if
// there are none.
func (j *Job) ListCaptures(write listing.Writer) error {
	req, err := j.NewRequest(j.Argument)
	if err != nil {
		return err
	}
	found := false
	all := func(yield func(fetch.Entry, error) bool) {
		for e, err := range j.Client.Archive.Captures(j.ctx, req.URL) {
			found = true
			if !yield(e, err) {
				return
			}
		}
	}
	if err := write.WriteAll(j.Output, all); err != nil || found {
		return err
	}
	return fetch.NotFound.Errorf("%s: the archive has no capture of this URL", req.URL)
}

// Describe prints the metadata of the URL as a line of JSON.
func (j *Job) Describe() error {
	req, err := j.NewRequest(j.Argument)
	if err != nil {
		return err
	}
	req.Op = fetch.Stat
	resp, err := j.request(j.ctx, req)
	if err != nil {
		return err
	}
	resp.Body.Close()
	return console.Encode(j.Output, transfer.MetadataOf(resp))
}
