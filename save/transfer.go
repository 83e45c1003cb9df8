package save

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/wrap"
)

// A Sink is a destination for an object that [Transfer] retrieves, such as a
// file.
type Sink interface {
	// State returns the version of the object and the number of bytes in the
	// sink, like [File.State].
	State() State

	// Receive writes the body of the response to the sink and completes the
	// sink. The request req is the request that was passed to Transfer, also if
	// resp has only the missing bytes. Receive can pass the result of [StateOf]
	// to [File.Begin]. Transfer closes the body.
	Receive(req *fetch.Request, resp *fetch.Response) error

	// Restarts reports whether the sink can discard its bytes and start again
	// at offset 0.
	Restarts() bool
}

// StateOf returns the State that describes the body of a response, for use with
// [File.Begin]. The request is the request that was passed to [Transfer]. The
// State has no version and the offset 0 if the file does not become the object.
// Examples are a range, the response to a Range field in Request.Header, an
// error page, the body of a redirect, and the response to a [fetch.Stat]
// request.
func StateOf(req *fetch.Request, resp *fetch.Response) State {
	if selectsRange(req) || req.Op == fetch.Stat || resp.Fault != nil || !resp.Location.IsZero() {
		return State{Size: -1}
	}
	return State{Offset: resp.Offset, Validator: resp.Validator, Size: resp.Size}
}

// selectsRange reports whether the caller requests a part of the object.
func selectsRange(req *fetch.Request) bool {
	return !req.Range.IsZero() || req.Header.Get("Range") != ""
}

// Transfer retrieves an object and resumes a partial transfer. It sends
// requests to client, usually a [fetch.Client], until sink has received the
// complete object. [Fetch] calls Transfer with a file as the sink.
//
// If the sink already has bytes, Transfer requests the missing bytes. If the
// object has changed in the meantime, Transfer requests the complete object. It
// also does so if the sink has bytes of unknown version, and the object was
// modified after State.Modified. The same applies if a body of unknown version
// is interrupted, within the limits of retry. If req selects a range, the sink
// receives only this range, and an interrupted body starts again at the beginning
// of the range. It is an error if the sink already has bytes in this case.
//
// Transfer does not retry errors that occur before the body, because
// [wrap.Retry] in the Client retries them. It does not retry sessions. If
// [fetch.Response.Unchanged] is set, Transfer does not call Receive. It reports
// its decisions as notes to req.Trace.
func Transfer(ctx context.Context, client fetch.Driver, req *fetch.Request, sink Sink, retry wrap.RetryOptions) error {
	t := transfer{client, req, sink, sink.State().Offset}
	if t.startOffset > 0 && selectsRange(req) {
		return fetch.Usage.Errorf("cannot resume %s at byte %d: the request has a range", req.URL, t.startOffset)
	}
	began := time.Now()
	for n := 1; ; n++ {
		before := sink.State().Offset
		resp, err := t.attempt(ctx)
		switch {
		case err == nil || !sink.Restarts():
			return err
		case before > 0 && sink.State().Offset == 0 && errors.Is(err, fetch.Mismatch):
			req.Trace.Notef("%v; starting again from the beginning", err)
		case !isBodyError(err) || resp == nil || resp.Input != nil || !retry.WaitRetry(ctx, req, began, n, err):
			return err
		}
	}
}

// isBodyError reports whether an error occurred while a body was read.
func isBodyError(err error) bool {
	e, ok := errors.AsType[*fetch.Error](err)
	return ok && e.Op == "read"
}

type transfer struct {
	client      fetch.Driver
	req         *fetch.Request
	sink        Sink
	startOffset int64 // number of bytes in the sink before the first attempt
}

// attempt sends one request, passes the response to the sink, and closes the
// body.
func (t *transfer) attempt(ctx context.Context) (*fetch.Response, error) {
	have := t.sink.State()
	req := t.req
	resumes := have.Offset > 0 && t.canContinue(have)
	if resumes {
		req = req.Clone()
		req.Range, req.IfSame = fetch.Range{First: have.RequestOffset()}, have.Validator
		req.ErrorBody = false // an error page must not be appended to the object
	}
	resp, err := t.client.Do(ctx, req)
	if resumes && err == nil && t.isOutdated(have, resp) {
		resumes = false
		if resp, err = t.startAgain(ctx, req, resp); err != nil {
			return nil, err
		}
	}
	if resumes && have.Validator == "" && errors.Is(err, fetch.ErrPastEnd) {
		req.Trace.Notef("assuming that the file is complete: the server has no data after byte %d and does not report the size", have.Offset)
		resp, err = &fetch.Response{URL: req.URL, Kind: fetch.Document, Offset: have.Offset, Size: -1, Body: emptyBody()}, nil
	}
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	switch {
	case resp.Unchanged:
		return resp, nil
	case resumes && resp.NoContent():
		return resp, fetch.Mismatch.Errorf("cannot resume: the server has no object (status 204)")
	case resumes && exceedsObject(have, resp): // as after the status 416, a shorter object does not replace the file
		return resp, fetch.Mismatch.Errorf("cannot resume: the file has %d bytes, but the object has only %d", have.Offset, resp.Size)
	case resumes && !t.sink.Restarts() && resp.Offset != have.RequestOffset():
		return resp, fetch.Protocol.Errorf("the server cannot resume at byte %d", have.Offset)
	case resumes && have.Unverified && resp.Offset > 0:
		noteUnverified(req, have, resp)
	}
	return resp, t.sink.Receive(t.req, resp)
}

// exceedsObject reports whether a file of unknown version is longer than the
// object that resp contains. The server has ignored the range in this case.
func exceedsObject(have State, resp *fetch.Response) bool {
	return have.Unverified && have.Validator == "" && !resp.Unchanged && resp.Fault == nil && resp.Location.IsZero() &&
		resp.Offset == 0 && 0 <= resp.Size && resp.Size < have.Offset
}

// canContinue reports whether the missing bytes may be appended to the bytes in
// the sink. It returns false if this Transfer received bytes of an unknown
// version, because the object may have changed. If the sink had the bytes
// before the Transfer, the caller is responsible for their version.
func (t *transfer) canContinue(have State) bool {
	return have.Validator != "" || have.Unverified || have.Offset == t.startOffset
}

func emptyBody() io.ReadCloser { return io.NopCloser(strings.NewReader("")) }
