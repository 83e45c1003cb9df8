// Package mirrors retrieves one object from several mirrors in parallel. It
// verifies pieces of the object before it returns their bytes, and requests a
// bad piece from another mirror.
package mirrors

import (
	"context"
	"net/http"
	"slices"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/verify"
)

// An Object is an object with several mirrors.
type Object struct {
	// Mirrors returns the request for each mirror, the best mirror first. The
	// requests have no range.
	Mirrors []*fetch.Request

	Size      int64           // in bytes, or -1 if unknown; a mirror with another size is not used
	PieceSize int64           // in bytes, or 0 if there are no digests of pieces
	Pieces    []verify.Digest // of the pieces in order

	// Digest identifies the object, such as "sha256=" and hexadecimal digits.
	// If it is not empty, an interrupted transfer can be resumed. The caller
	// verifies it.
	Digest string
}

const (
	maxActive  = 8         // mirrors that are used at the same time
	maxMemory  = 32 << 20  // bytes of all pieces in memory
	usualPiece = 1 << 20   // size of a piece without a digest in bytes
	maxRun     = 4 << 20   // maximum size of one request in bytes
	maxFailed  = 3         // failures of a mirror after which it is not used any more
	maxPieces  = 1_000_000 // pieces of an object
)

// New returns a Driver that retrieves o. It ignores the URL of a request, but
// uses its Range.First, IfSame and Trace. The requests to the mirrors are sent
// to client.
func New(client fetch.Driver, o Object) fetch.Driver { return &driver{client, o} }

type driver struct {
	client fetch.Driver
	object Object
}

// Do sends a request to the first mirror that works, and returns the response
// when its first bytes arrive. The body uses all mirrors. If a mirror reports that
// the object is unchanged, and no other mirror sends it, Response.Unchanged is true.
func (d *driver) Do(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
	o := d.object
	if req.Op != fetch.Get || req.Range.End > 0 || req.Range.First < 0 {
		return nil, fetch.Unsupported.Errorf("several mirrors serve only complete objects")
	}
	start := req.Range.First
	if start > 0 && (req.IfSame == "" || req.IfSame != validator(o) || o.Size >= 0 && start > o.Size) {
		start = 0
	}
	ctx, cancel := context.WithCancelCause(ctx)
	b := newBody(ctx, cancel, d.client, o, req.Trace)
	b.start(start)
	if err := b.await(); err != nil { // the size is known when the first piece has arrived
		unchanged := b.unchanged()
		b.Close()
		if unchanged {
			return &fetch.Response{URL: o.Mirrors[0].URL, Kind: fetch.Document, Size: o.Size, Unchanged: true, Body: http.NoBody}, nil
		}
		return nil, err
	}
	first := o.Mirrors[0]
	return &fetch.Response{URL: first.URL, Kind: fetch.Document, Media: b.media, Size: b.size, Offset: start, Validator: validator(o), Proto: b.proto, Body: b}, nil
}

// validator returns the validator of an object, which all its mirrors share.
func validator(o Object) string {
	if o.Digest == "" {
		return ""
	}
	return `"mirrors ` + o.Digest + `"`
}

// A mirror is the state of a mirror.
type mirror struct {
	req    *fetch.Request
	failed int
	ended  bool   // not used any more
	same   string // validator of the first response
}

func newMirrors(all []*fetch.Request) []*mirror {
	var out []*mirror
	for _, req := range all {
		out = append(out, &mirror{req: req})
	}
	return out
}

// A piece is a part of the object.
type piece struct {
	first, end int64
	digest     *verify.Digest
	data       []byte
	done       bool
	owners     []*mirror // mirrors that retrieve the piece now
	tried      []*mirror // mirrors from which the piece was bad or incomplete
}

// available reports whether m may retrieve the piece.
func (p *piece) available(m *mirror) bool {
	return !p.done && len(p.owners) == 0 && !slices.Contains(p.tried, m)
}
