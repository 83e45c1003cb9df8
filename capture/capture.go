// Package capture records the requests that a browser or another program sends
// through a proxy.
//
// A [Handler] answers the requests that a proxy of package internal/wire/mitm
// has decrypted. It sends them with a [fetch.Client], so that its Policy checks
// every request. It passes the response to the program as it arrives, and passes
// the complete [Exchange] to a function that stores it.
package capture

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/warc/record"
)

// MaxPageBody is a value of [Handler].MaxRequest for the requests of a page in a
// browser, which nobody can supervise.
const MaxPageBody = 16 << 20

// A Handler sends the requests of a program and records them. The fields Client
// and Store are required. The fields must not be changed after the first
// request. A Handler is safe for concurrent use.
type Handler struct {
	// Client sends the requests. Its middlewares must not change requests or
	// bodies. It must not decode content codings.
	Client *fetch.Client

	// Record selects the storage of the messages.
	Record record.Options

	// MaxRequest is the maximum size of the body of a request in bytes, or 0 for
	// 256 MiB. A request with a larger body is not sent.
	MaxRequest int64

	// From returns the document that supplied the URL of a request. It returns
	// nil if the user entered the URL. If it returns an error, the request is not
	// sent, and the client receives the error in a page. If From is nil, the
	// document is a page of an unknown public server.
	From func(r *http.Request, u uri.URI) (*fetch.Source, error)

	// Responded is called when the header of a response has arrived, before the
	// client receives it. It may be nil.
	Responded func(*Exchange)

	// Store stores an exchange. It is called after the last byte of the response
	// has arrived, and before the client receives the last bytes. It is also
	// called for a request without a response. If it returns an error, the
	// client receives an incomplete response. Store must call Free of the
	// exchange, also after it has returned.
	Store func(context.Context, *Exchange) error

	// Note receives messages about requests. It may be nil.
	Note func(format string, args ...any)

	heads atomic.Int64 // memory for the heads of the responses in progress
}

// A Visit collects the exchanges of the visit of one page, so that their records
// can be written together. The zero value is ready to use. It is safe for
// concurrent use.
type Visit struct {
	mu        sync.Mutex
	exchanges []*Exchange
}

// Add adds an exchange. It is a function for Handler.Store. The error is always
// nil.
func (v *Visit) Add(_ context.Context, x *Exchange) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.exchanges = append(v.exchanges, x)
	return nil
}

// Take removes the exchanges from the Visit and returns them in the order of
// their last bytes. The caller must call Free of each exchange.
func (v *Visit) Take() []*Exchange {
	v.mu.Lock()
	defer v.mu.Unlock()
	taken := v.exchanges
	v.exchanges = nil
	return taken
}
