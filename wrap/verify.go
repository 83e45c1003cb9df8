package wrap

import (
	"context"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/verify"
)

// Verify is a middleware that compares complete bodies with Response.Digest,
// which the server has announced. At the end of a body with another digest,
// Read returns the Fault fetch.Mismatch. It must enclose the middlewares that
// resume bodies. A caller that appends a part to an earlier part compares the
// digest itself.
func Verify(next fetch.Driver) fetch.Driver {
	return fetch.DriverFunc(func(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
		resp, err := next.Do(ctx, req)
		if err != nil || resp.Digest == "" || resp.Offset > 0 || req.Range.First != 0 || req.Range.End > 0 {
			return resp, err
		}
		if d, err := verify.ParseDigest(resp.Digest); err == nil {
			resp.Body = verify.NewBody(resp.Body, []verify.Check{d.Check("the response of the server")}, req.Trace)
		}
		return resp, nil
	})
}
