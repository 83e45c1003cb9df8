package main

import (
	"bytes"
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
	req, err := j.request(j.text)
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
	began := time.Now()
	for j.begun = 1; ; j.begun++ {
		err := j.transfer(req, out)
		j.tries.before = j.attempts()
		switch {
		case err == nil:
			return nil
		case errors.Is(err, fetch.Mismatch) && j.begun == 1 && out.State().Offset == 0 && out.Restarts():
			j.note("%v; from the beginning", err)
			continue
		}
		// What the Retry middleware could not continue begins anew, where
		// nothing that was written has left our hands.
		if !out.Restarts() || !begun(err) || j.resp.Input != nil || !j.again(req, began, err) {
			return err
		}
	}
}

// again waits before req is made once more, if it is to be.
func (j *job) again(req *fetch.Request, began time.Time, err error) bool {
	o := j.retrying()
	o.Notify = func(_ context.Context, t wrap.Attempt) {
		j.note("%v; from the beginning in %v", t.Err, t.Wait.Round(100*time.Millisecond))
	}
	return o.Again(j.ctx, req, began, j.begun, err)
}

// attempts is how many requests were made for the object, redirects apart.
func (j *job) attempts() int { return max(j.begun, 1) + int(j.tries.retries.Load()) }

// begun reports whether err came in the midst of a body: errors before it have
// been retried already.
func begun(err error) bool {
	var e *fetch.Error
	return errors.As(err, &e) && e.Op == "read"
}

// request is the Request that text and the flags ask for.
func (a *app) request(text string) (*fetch.Request, error) {
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
	if f.rng != "" {
		if f.continueAt != "" {
			return nil, fetch.Usage.Errorf("-r and -C exclude each other")
		}
		err = setRange(req, f.rng)
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

// transfer makes one attempt to bring the body of req, or the rest of it, to
// out.
func (j *job) transfer(req *fetch.Request, out sink) error {
	if have := out.State(); have.Offset > 0 {
		req = req.Clone()
		req.Range, req.IfSame = fetch.Range{First: have.Rest()}, have.Validator
		req.ErrorBody = false // the page of an error continues no file
		if have.Unverified {
			j.note("continuing %s at byte %d: nothing proves that it is the same version", out.Name(), have.Offset)
		}
	}
	j.sayPlan(j.client, req)
	resp, err := j.client.Do(j.hearHeads(req), req)
	if err := j.dumpHeads(); err != nil {
		return err
	}
	if have := out.State(); j.nothingBehind(have, err) {
		j.note("the server has nothing behind byte %d and does not say how long the object is: taken for whole", have.Offset)
		return errors.Join(out.Begin(save.State{Offset: have.Offset, Size: -1}), out.Commit())
	}
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	j.resp = resp
	if err := j.flags.http.keep(resp); err != nil {
		return err
	}
	j.sayHead(j.client, resp)
	if resp.Unchanged {
		return nil
	}
	if at, _, _ := j.flags.resume(); at > 0 && resp.Offset != at && resp.Fault == nil {
		return fetch.Protocol.Errorf("the server cannot continue at byte %d", at)
	}
	if err := out.Begin(j.flags.state(req, resp)); err != nil {
		return err
	}
	if err := j.copy(out, req, resp); err != nil {
		return err
	}
	if err := j.dumpTrailer(resp); err != nil {
		return err
	}
	if resp.Fault != nil && j.flags.failWithBody {
		err = resp.Fault
	}
	if j.flags.remoteTime {
		out.SetTime(resp.Time)
	}
	if err := j.flags.verify(out); err != nil {
		out.Abort()
		return err
	}
	return errors.Join(err, out.Commit())
}

// nothingBehind reports whether err says no more than that the object ends
// before or where we would continue: a 416 without the object's length.
func (j *job) nothingBehind(have save.State, err error) bool {
	if err == nil || have.Offset == 0 || have.Validator != "" {
		return false
	}
	var e *fetch.Error
	return errors.As(err, &e) && e.Code == 416 &&
		!bytes.Contains(bytes.ToLower(j.heads.Bytes()), []byte("\ncontent-range:"))
}

// state is what out is told of the body. A range that was asked for by name,
// and one with its head before it, is an object of its own.
func (f *flags) state(req *fetch.Request, resp *fetch.Response) save.State {
	if f.include || f.news.reshaped() || req.Range.End != 0 || req.Range.First < 0 || req.Op == fetch.Stat || resp.Fault != nil || !resp.Location.IsZero() {
		return save.State{Size: -1}
	}
	return save.State{Offset: resp.Offset, Validator: resp.Validator, Size: resp.Size}
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
		case entries.Is(resp.Media):
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
