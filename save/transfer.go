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

// A Sink receives an object from [Transfer].
type Sink interface {
	// State returns the bytes that the sink holds, as [File.State] does.
	State() State

	// Receive writes the body of resp, the response to req, and completes the
	// sink. [StateOf] returns the argument of a [File.Begin] in it.
	Receive(req *fetch.Request, resp *fetch.Response) error

	// Restarts reports whether the sink can discard what it holds and begin
	// with the first byte of the object.
	Restarts() bool
}

// StateOf returns the State that describes the body of resp to [File.Begin]. A
// body that is not the object or its rest has no version: the part of
// req.Range, the page of an error, of a redirect or of a [fetch.Stat].
func StateOf(req *fetch.Request, resp *fetch.Response) State {
	if req.Range.End != 0 || req.Range.First < 0 || req.Op == fetch.Stat || resp.Fault != nil || !resp.Location.IsZero() {
		return State{Size: -1}
	}
	return State{Offset: resp.Offset, Validator: resp.Validator, Size: resp.Size}
}

// Transfer sends req to client until sink has received the object. It is the
// loop of [Fetch] for a destination that is not a file. The client is usually
// a [fetch.Client].
//
// If the sink holds bytes, Transfer requests the rest. If the rest is of
// another version, Transfer requests the complete object. It does so too if the
// body breaks off and nothing proves the version of the bytes before, as often
// and as late as retry permits. Errors before the body are not retried:
// [wrap.Retry] in the Client does that. Neither is a session.
//
// Transfer does not call Receive if [fetch.Response.Unchanged] is set. It
// reports decisions through req.Trace.
func Transfer(ctx context.Context, client fetch.Driver, req *fetch.Request, sink Sink, retry wrap.RetryOptions) error {
	t := transfer{client, req, sink, sink.State().Offset}
	began := time.Now()
	for n := 1; ; n++ {
		before := sink.State().Offset
		resp, err := t.attempt(ctx)
		switch {
		case err == nil || !sink.Restarts():
			return err
		case before > 0 && sink.State().Offset == 0 && errors.Is(err, fetch.Mismatch):
			req.Trace.Notef("%v; from the beginning", err)
		case !isBodyError(err) || resp == nil || resp.Input != nil || !retry.WaitRetry(ctx, req, began, n, err):
			return err
		}
	}
}

// inBody reports whether err is of the body of a response.
func isBodyError(err error) bool {
	e, ok := errors.AsType[*fetch.Error](err)
	return ok && e.Op == "read"
}

type transfer struct {
	client      fetch.Driver
	req         *fetch.Request
	sink        Sink
	startOffset int64 // offset of the sink before the first attempt
}

// attempt sends one request. The body of its response is closed.
func (t *transfer) attempt(ctx context.Context) (*fetch.Response, error) {
	have := t.sink.State()
	req := t.req
	resumes := have.Offset > 0 && t.canContinue(have)
	if resumes {
		req = req.Clone()
		req.Range, req.IfSame = fetch.Range{First: have.RequestOffset()}, have.Validator
		req.ErrorBody = false // an error page is no part of the object
		if have.Unverified {
			req.Trace.Notef("continuing %s at byte %d: nothing proves that it is the same version", req.URL, have.Offset)
		}
	}
	resp, err := t.client.Do(ctx, req)
	if resumes && have.Validator == "" && errors.Is(err, fetch.ErrPastEnd) {
		req.Trace.Notef("the server has nothing behind byte %d and does not report the size: taken for complete", have.Offset)
		resp, err = &fetch.Response{URL: req.URL, Kind: fetch.Document, Offset: have.Offset, Size: -1, Body: emptyBody()}, nil
	}
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	switch {
	case resp.Unchanged:
		return resp, nil
	case resumes && !t.sink.Restarts() && resp.Offset != have.RequestOffset():
		return resp, fetch.Protocol.Errorf("the server cannot continue at byte %d", have.Offset)
	}
	return resp, t.sink.Receive(req, resp)
}

// continuable reports whether the rest of an object may follow the bytes of
// have. Bytes of this Transfer whose version is unknown cannot be continued,
// because the object may have changed since. The caller vouches for those that
// the sink had before.
func (t *transfer) canContinue(have State) bool {
	return have.Validator != "" || have.Unverified || have.Offset == t.startOffset
}

func emptyBody() io.ReadCloser { return io.NopCloser(strings.NewReader("")) }
