// Package sessions manages the persistent connections of drivers. The drivers
// of FTP, NNTP, IMAP, WAIS and HTTP/1 use it.
//
// A [Pool] keeps idle sessions and runs each request on an idle session or a
// new one. A [Lease] gives one request the exclusive use of a session. A [Conn]
// is the connection of a session. It reports its bytes to the Trace of the
// request, upgrades to TLS, and records whether another request may use it.
package sessions

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
)

const (
	IdleTimeout  = 45 * time.Second // default limit of the idle time of a session
	ReplyTimeout = 60 * time.Second // limit of the time for one reply of a server
)

// A Session is a connection that carries one request after another. The Pool
// calls Claim before each request and Release after it.
type Session interface {
	io.Closer // sends the goodbye of the protocol, but does not wait for a reply

	// Abort closes the connection immediately. It may be called concurrently
	// with any method.
	Abort()

	// Claim prepares an idle session for a request with the Trace t. It returns
	// false if the session is not usable.
	Claim(t *fetch.Trace) bool

	// Release ends a request. It reports whether another request may use the
	// session.
	Release() bool

	// Stale reports whether the session broke before the server answered the
	// request that claimed it.
	Stale() bool
}

// Key returns a pool key. Two requests may share a session if their keys are
// equal. The argument auth holds the credentials of the session, or is nil. The
// argument more lists other properties that distinguish sessions. Its length
// must be the same for all keys of a Pool.
func Key(ctx context.Context, n fetch.Net, t fetch.Target, auth *fetch.Credential, more ...string) string {
	parts := append([]string{n.Key(ctx), t.Address()}, more...)
	if auth != nil {
		parts = append(parts, auth.User, auth.Password.Reveal(), auth.Account.Reveal(), auth.Token.Reveal())
	}
	return strings.Join(parts, "\x00")
}

// ErrStale means that the server has closed an idle session, or that the
// request needs a different one. [Pool.Do] retries the request with another
// session.
var ErrStale = errors.New("stale session")

// Start prepares the new session s for requests. The function handshake reads
// the greeting, starts TLS and authenticates. If handshake fails or ctx is
// canceled, Start closes the session and returns an error.
func Start[S Session](ctx context.Context, s S, handshake func() error) (S, error) {
	stop := context.AfterFunc(ctx, s.Abort)
	err := handshake()
	if !stop() {
		err = context.Cause(ctx)
	}
	if err != nil {
		s.Close()
		var none S
		return none, err
	}
	return s, nil
}
