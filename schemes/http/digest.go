package http

import (
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/verify"
)

// checkDigests prepares the verification of the digests in the header. It
// compares the content of the message with Content-Digest, and a body that will
// be decoded with Repr-Digest or Digest. Otherwise it sets Response.Digest,
// because only the caller has all parts of the object.
func (r *responseBuilder) checkDigests() {
	if r.ignoreDigests || r.raw || r.req.Op == fetch.Stat || r.out.Unchanged || r.out.Fault != nil || !r.out.Location.IsZero() {
		return
	}
	var checks []verify.Check
	if d, ok := verify.ContentDigest(r.header); ok {
		checks = append(checks, d.Check("the field Content-Digest"))
	}
	d, source, ok := verify.ReprDigest(r.header)
	coded := r.header.Get("Content-Encoding")
	switch {
	case !ok:
	case !r.wire.decodes || coded == "" || strings.EqualFold(coded, "identity"):
		r.out.Digest = d.String()
	case r.out.Code == 200:
		checks = append(checks, d.Check(source))
	}
	if len(checks) > 0 {
		r.out.Body = verify.NewBody(r.out.Body, checks, r.req.Trace)
	}
}
