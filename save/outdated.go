package save

import (
	"context"

	"github.com/anyurl/fetch/fetch"
)

// isOutdated reports whether the object in resp was modified after the bytes in
// the sink, whose version is unknown, were written.
func (t *transfer) isOutdated(have State, resp *fetch.Response) bool {
	return !have.Modified.IsZero() && t.sink.Restarts() &&
		!resp.Unchanged && resp.Fault == nil && resp.Location.IsZero() && resp.Time.After(have.Modified)
}

// startAgain returns the response with the complete object. This is resp if the
// server has ignored the range of req.
func (t *transfer) startAgain(ctx context.Context, req *fetch.Request, resp *fetch.Response) (*fetch.Response, error) {
	req.Trace.Notef("%s was modified after the existing bytes were written; starting again from the beginning", req.URL)
	if resp.Offset == 0 {
		return resp, nil
	}
	resp.Body.Close()
	req = req.Clone()
	req.Range, req.IfSame = fetch.Range{}, ""
	return t.client.Do(ctx, req)
}

// noteUnverified reports that the version of the bytes in the sink is unknown.
func noteUnverified(req *fetch.Request, have State, resp *fetch.Response) {
	result := "the result is a mixture"
	if resp.Size == have.Offset {
		result = "the file is an earlier version"
	}
	req.Trace.Notef("continuing %s at byte %d: the existing bytes have no recorded version; if the object has changed, %s", req.URL, have.Offset, result)
}
