package main

import (
	"context"
	"errors"
	"io"
	"strconv"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/entries"
	"github.com/anyurl/fetch/save"
	"github.com/anyurl/fetch/wrap"
)

// get brings what one URL names to where the flags want it.
func (j *job) get() error {
	if j.meta != nil || j.flags.writeOut != "" {
		j.measure = newMeasure(j.meta != nil)
	}
	err := j.bring()
	j.measure.stop()
	return errors.Join(err, j.meta.put(j, err), j.writeOut(err))
}

func (j *job) bring() (err error) {
	req, err := j.request(j.client, j.text)
	if err != nil {
		return err
	}
	req.Trace = j.measure.listen(req.Trace)
	out, err := j.sink(req)
	if j.flags.skipExisting && errors.Is(err, fetch.Exists) {
		j.note("%v: skipped", err)
		return nil
	}
	if err != nil {
		return err
	}
	defer out.Close()
	j.out = out
	defer func() {
		if kept := out.State(); err != nil && j.flags.continueAt == "-" && kept.Offset > 0 && kept.Validator != "" {
			j.note("%d bytes are kept; the same command continues", kept.Offset)
		}
	}()
	if limit := time.Duration(j.flags.maxTime); limit > 0 { // of all attempts together
		var cancel context.CancelFunc
		j.ctx, cancel = context.WithTimeoutCause(j.ctx, limit, fetch.Timeout.Errorf("not done within %v", limit))
		defer cancel()
	}
	return save.Transfer(j.ctx, fetch.DriverFunc(j.do), req, &receiver{out, j}, j.restarting())
}

// restarting returns the retries of a body that begins again.
func (j *job) restarting() wrap.RetryOptions {
	o := j.retrying()
	o.Notify = func(_ context.Context, t wrap.Attempt) {
		j.note("%v; from the beginning in %v", t.Err, t.Wait.Round(100*time.Millisecond))
	}
	return o
}

// attempts is how many requests were made for the object, redirects apart.
func (j *job) attempts() int { return max(j.begun, 1) + int(j.tries.retries.Load()) }

// request is the Request that text and the flags ask for.
func (a *app) request(client *fetch.Client, text string) (*fetch.Request, error) {
	u, err := a.typed(text)
	if err != nil {
		return nil, err
	}
	f := &a.flags
	req := &fetch.Request{URL: u, NoFollow: f.noLocation && !f.locationTrusted, ErrorBody: f.noFail || f.failWithBody, Trace: a.heard}
	if f.head {
		req.Op = fetch.Stat
	}
	if a.who != nil {
		req.Auth = a.who.credential(req)
	}
	if req.Header, err = f.http.fields(a.given); err != nil {
		return nil, err
	}
	if err := errors.Join(condition(req, f.timeCond), f.http.condition(req)); err != nil {
		return nil, err
	}
	if f.include && f.continueAt == "-" {
		return nil, fetch.Usage.Errorf("-i and -C - exclude each other: the head is no part of the file")
	}
	if f.rng != "" {
		if f.continueAt != "" {
			return nil, fetch.Usage.Errorf("-r and -C exclude each other")
		}
		err = setRange(req, f.rng, client.Scheme(u.Scheme()).Traits.Web)
	}
	return req, err
}

// trace says notes, and with -v details.
func (a *app) trace() *fetch.Trace {
	t := &fetch.Trace{Note: func(text string) { a.note("%s", text) }}
	if a.flags.verbose {
		t.Detail = t.Note
	}
	return t
}

// do sends req, an attempt of j, and reports what the flags want of the
// response.
func (j *job) do(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
	if j.begun++; j.begun > 1 {
		j.tries.before = j.begun - 1 + int(j.tries.retries.Load())
	}
	j.sayPlan(j.client, req)
	resp, err := j.client.Do(j.hearHeads(ctx, req), req)
	if failed := j.dumpHeads(); failed != nil {
		if err == nil {
			resp.Body.Close()
		}
		return nil, failed
	}
	if err != nil {
		return nil, err
	}
	j.resp = resp
	if err := j.flags.http.keep(resp); err != nil {
		resp.Body.Close()
		return nil, err
	}
	j.sayHead(j.client, resp)
	return resp, nil
}

// receiver is the sink of a job as a [save.Sink].
type receiver struct {
	sink
	job *job
}

// Receive writes the body of resp as the flags want it.
func (r *receiver) Receive(req *fetch.Request, resp *fetch.Response) error {
	j := r.job
	if err := r.Begin(j.flags.state(req, resp)); err != nil {
		return err
	}
	if err := j.copy(r.sink, req, resp); err != nil {
		return err
	}
	if err := j.dumpTrailer(resp); err != nil {
		return err
	}
	if j.flags.remoteTime {
		r.SetTime(resp.Time)
	}
	if err := j.flags.verify(r.sink); err != nil {
		r.Abort()
		return err
	}
	var fault error
	if j.flags.failWithBody {
		fault = resp.Fault
	}
	return errors.Join(fault, r.Commit())
}

// state describes the body of resp to a sink. A body that the flags reshape,
// and one with its head before it, is not the object.
func (f *flags) state(req *fetch.Request, resp *fetch.Response) save.State {
	if f.include || f.news.reshaped() {
		return save.State{Size: -1}
	}
	return save.StateOf(req, resp)
}

// copyBuffer is large enough that the system calls of a fast transfer do not
// count.
const copyBuffer = 256 << 10

// buffer returns one of copyBuffer bytes; many small bodies share a few.
func (a *app) buffer() *[]byte {
	if b, ok := a.buffers.Get().(*[]byte); ok {
		return b
	}
	b := make([]byte, copyBuffer)
	return &b
}

func (j *job) copy(out sink, req *fetch.Request, resp *fetch.Response) error {
	w := io.Writer(out)
	if j.flags.include || req.Op == fetch.Stat {
		if _, err := w.Write(j.heads.Bytes()); err != nil {
			return local(err)
		}
	}
	if req.Op == fetch.Stat {
		return nil
	}
	resp.Body = j.measure.of(resp.Body)
	if resp.Kind == fetch.Menu && !j.native {
		switch {
		case out.Terminal():
			return numbered(w, resp)
		case entries.IsMedia(resp.Media):
			return names(w, resp)
		}
	}
	if resp.Input != nil {
		return j.session(w, out.Terminal(), resp)
	}
	if out.Terminal() {
		if err := beText(resp); err != nil {
			return err
		}
	}
	if j.flags.news.reshaped() {
		return local(j.flags.news.reshape(w, resp, j.note))
	}
	buffer := j.buffer()
	defer j.buffers.Put(buffer)
	_, err := io.CopyBuffer(w, resp.Body, *buffer) // no sink has a ReadFrom of 32 KiB
	return local(err)
}

// local classes an error of writing; errors of reading have their class.
func local(err error) error {
	if err == nil || fetch.FaultOf(err) != fetch.Internal && !errors.Is(err, errPipe) {
		return err
	}
	return fetch.Local.With(err)
}

// resume is the byte at which -C begins, and whether the file says it.
func (f *flags) resume() (offset int64, auto bool, err error) {
	switch f.continueAt {
	case "":
		return 0, false, nil
	case "-":
		return 0, true, nil
	}
	offset, err = strconv.ParseInt(f.continueAt, 10, 64)
	if err != nil || offset < 0 {
		return 0, false, fetch.Usage.Errorf("-C takes an offset or -, not %q", f.continueAt)
	}
	return offset, false, nil
}
