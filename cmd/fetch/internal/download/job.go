package download

import (
	"bytes"
	"context"
	"errors"
	"io"
	"syscall"
	"time"

	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/cmd/fetch/internal/ordered"
	"github.com/anyurl/fetch/cmd/fetch/internal/transfer"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/save"
	"github.com/anyurl/fetch/verify"
)

// A Job retrieves one URL.
type Job struct {
	*Retrieval
	transfer.Transfer
	ctx    context.Context // ends after --max-time, once the transfer has started
	Output io.Writer
	slot   *ordered.Slot // output of the job, or nil for standard output

	checks   []verify.Check // verify the body
	listed   []verify.Check // checks of the list of mirrors
	named    bool           // a list of mirrors, and not the URL, names the file
	attempts attemptCounter
	headers  bytes.Buffer // response headers of the last call of Do
}

// errorSource returns the line number of the URL and the number of requests
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

// writeOut expands the format of -w and prints the result.
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
	defer j.limitTime()()
	req, err := j.NewRequest(j.Argument)
	if err != nil {
		return err
	}
	if err := j.setTimestamp(req); err != nil {
		return err
	}
	req.Trace = j.Measure.Trace(req.Trace)
	j.warc.preventResume(req)
	if j.flags.Sources.IsSet() {
		return j.retrieveFromMirrors(req)
	}
	return j.save(req, j)
}

// save saves the object that client returns for req in the file or stream that
// the flags select.
func (j *Job) save(req *fetch.Request, client fetch.Driver) (err error) {
	out, err := j.openSink(req)
	if j.flags.File.SkipExisting && errors.Is(err, fetch.Exists) {
		j.Note("%v: skipped", err)
		return nil
	}
	if err != nil {
		return err
	}
	if isFile(out) || j.warc != nil {
		defer j.Interrupts.Hold()()
	}
	defer out.Close()
	j.Sink = out
	defer func() { j.notePartialFile(err) }()
	err = save.Transfer(j.ctx, client, req, receiver{j}, j.Restart)
	switch {
	case j.flags.File.SkipExisting && errors.Is(err, fetch.Exists): // a name that the server sends
		j.Note("%v: skipped", err)
		return nil
	case err != nil || j.Resp == nil:
		return err
	}
	// After a truncated body, the next attempt must not skip the object.
	return errors.Join(j.flags.HTTP.SaveETag(j.Resp), j.setAttributes())
}

// setAttributes stores the origin of the output file in its extended attributes,
// with curl's names, if --xattr is set. A stream and a device have none. Like curl,
// it omits a value that is too long for the file system, because the server or a
// redirect chooses its length.
func (j *Job) setAttributes() error {
	if !j.flags.File.Attributes || !isFile(j.Sink) || j.Resp.Unchanged || j.omitsFile(j.Resp) {
		return nil
	}
	for _, a := range []struct{ name, value string }{
		{"user.creator", console.Product()}, {"user.xdg.origin.url", j.Resp.URL.WithoutUserinfo().String()}, {"user.mime_type", j.Resp.Media},
	} {
		if a.value == "" {
			continue
		}
		err := setAttribute(j.Sink.Name(), a.name, a.value)
		switch {
		case errors.Is(err, syscall.E2BIG), errors.Is(err, syscall.ENOSPC):
			j.Note("--xattr: %s has no space for %s (%d bytes)", j.Sink.Name(), a.name, len(a.value))
		case err != nil:
			return fetch.Local.Errorf("--xattr: %s: %w", j.Sink.Name(), err)
		}
	}
	return nil
}

// limitTime applies --max-time to all attempts of the job together. The caller
// must call the function that it returns.
func (j *Job) limitTime() context.CancelFunc {
	limit := time.Duration(j.flags.Client.Limits.MaxTime)
	if limit <= 0 {
		return func() {}
	}
	var cancel context.CancelFunc
	j.ctx, cancel = context.WithTimeoutCause(j.ctx, limit,
		fetch.Timeout.Errorf("the transfer took longer than %v (--max-time)", limit))
	return cancel
}

// Do sends req and returns the response. It also writes the response header for
// -D.
func (j *Job) Do(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
	j.headers.Reset()
	if j.flags.RecordsHeaders() || req.Op == fetch.Stat {
		ctx = withHeaderBuffer(ctx, &j.headers)
	}
	resp, err := j.request(ctx, req)
	if err == nil {
		resp, err = j.completeOld(ctx, req, resp)
	}
	if failed := j.dumpHeader(j.Output, j.headers.Bytes()); failed != nil {
		if err == nil {
			resp.Body.Close()
		}
		return nil, failed
	}
	if err != nil {
		return nil, err
	}
	j.Resp = resp
	return resp, nil
}
