package capture

import (
	"cmp"
	"context"
	"crypto/sha256"
	"hash"
	"io"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/parallel"
	"github.com/anyurl/fetch/internal/wire/mitm"
	"github.com/anyurl/fetch/warc"
)

// bufferSize and maxBufferSize limit the size of the buffer between the server and
// the client. It grows while the server fills it.
const (
	bufferSize    = 32 << 10
	maxBufferSize = 256 << 10
)

// pass passes the response to the client and stores the exchange. It returns
// false if the client must not regard the response as complete.
func (h *Handler) pass(w http.ResponseWriter, r *http.Request, x *Exchange) bool {
	x.sums = x.record.Sums()
	p := newPassage(w, x)
	copyHeader(w.Header(), x.Response)
	w.WriteHeader(cmp.Or(x.Response.Code, http.StatusOK)) // HTTP/0.9 has no status code
	err := p.copy(x.Response.Body, x.Response.Size)
	x.Response.Body.Close()
	x.Truncated = reasonOf(r.Context(), err)
	x.Size = x.payload.Size()
	p.hash.Sum(x.Sum[:0])
	complete := x.Truncated == "" && p.failed == nil
	if fetch.FaultOf(err) == fetch.Local && err != nil {
		h.note("%s: %v", x.Request.URL, err)
	}
	if failed := h.Store(context.WithoutCancel(r.Context()), x); failed != nil {
		h.note("%s: %v", x.Request.URL, failed)
		return false
	}
	return p.write(p.held) && complete
}

// A passage copies a body to the client and to the storage of the exchange.
type passage struct {
	x       *Exchange
	hash    hash.Hash
	to      http.ResponseWriter
	control *http.ResponseController
	held    []byte      // last bytes, which the client receives after the exchange was stored
	failed  error       // error of writing to the client
	full    error       // error of storing the body
	all     []io.Writer // the hashes, the storage and the client
}

func newPassage(w http.ResponseWriter, x *Exchange) *passage {
	p := &passage{x: x, hash: sha256.New(), to: w, control: http.NewResponseController(w)}
	p.all = append(x.sums.Writers(), p.hash, writerFunc(p.store), writerFunc(func(b []byte) { p.write(b) }))
	return p
}

// A writerFunc is a function that keeps its error elsewhere.
type writerFunc func(b []byte)

func (f writerFunc) Write(b []byte) (int, error) {
	f(b)
	return len(b), nil
}

// copy copies the complete body. If the length of the body is known, it holds
// back the last bytes. Otherwise net/http marks the end of the body only when the
// Handler returns. An error of the client ends the transfer.
func (p *passage) copy(body io.Reader, size int64) error {
	buffer := make([]byte, bufferSize)
	for total := int64(0); ; {
		n, err := body.Read(buffer)
		total += int64(n)
		to := p.all
		if size >= 0 && total >= size {
			p.held = append(p.held, buffer[:n]...) // at most one buffer, because the driver returns no surplus bytes
			to = p.all[:len(p.all)-1]
		}
		if n > 0 {
			parallel.Write(buffer[:n], to)
		}
		switch {
		case p.full != nil:
			return p.full
		case p.failed != nil:
			return p.failed
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case n == len(buffer) && n < maxBufferSize:
			buffer = make([]byte, 2*n)
		}
	}
}

// store stores bytes of the body. The digests of incomplete storage are unknown.
func (p *passage) store(b []byte) {
	if _, p.full = p.x.payload.Write(b); p.full != nil {
		p.x.sums = nil
	}
}

// write sends bytes to the client.
func (p *passage) write(b []byte) bool {
	if p.failed != nil || len(b) == 0 {
		return p.failed == nil
	}
	p.control.SetWriteDeadline(time.Now().Add(stall))
	if _, p.failed = p.to.Write(b); p.failed == nil {
		p.failed = p.control.Flush()
	}
	return p.failed == nil
}

// reasonOf returns the value of WARC-Truncated for a body that ended with err.
func reasonOf(ctx context.Context, err error) string {
	switch {
	case err == nil:
		return ""
	case fetch.FaultOf(err) == fetch.Timeout:
		return warc.TruncatedByTime
	case fetch.FaultOf(err) == fetch.TooLarge:
		return warc.TruncatedByLength
	case ctx.Err() != nil || fetch.FaultOf(err) == fetch.Local || fetch.FaultOf(err) == fetch.Internal:
		return warc.TruncatedUnspecified
	}
	return warc.TruncatedByDisconnect
}

// copyHeader copies the fields of a response that apply beyond the connection to
// the server.
func copyHeader(to http.Header, resp *fetch.Response) {
	for _, f := range resp.Header {
		to.Add(f.Name, f.Value)
	}
	mitm.RemoveHopFields(to)
	to.Del("Alt-Svc")                                          // it names a server that the client could use without the proxy
	for _, name := range [...]string{"Content-Type", "Date"} { // net/http adds them otherwise
		if _, ok := to[name]; !ok {
			to[name] = nil
		}
	}
}

// sortedNames returns the names of the fields in a fixed order.
func sortedNames(h http.Header) []string { return slices.Sorted(maps.Keys(h)) }

// copyWithin copies from until io.EOF. It calls extend before each Read.
func copyWithin(to io.Writer, from io.Reader, extend func() error) (n int64, err error) {
	buffer := make([]byte, bufferSize)
	for {
		extend() // some writers have no deadline
		read, err := from.Read(buffer)
		if read > 0 {
			if _, failed := to.Write(buffer[:read]); failed != nil {
				return n, failed
			}
			n += int64(read)
		}
		switch {
		case err == io.EOF:
			return n, nil
		case err != nil:
			return n, err
		}
	}
}
