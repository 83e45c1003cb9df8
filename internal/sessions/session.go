// Package sessions holds what drivers of protocols with lasting connections
// share: FTP, NNTP, IMAP, WAIS and HTTP/1.
//
// A [Pool] keeps idle sessions and runs each request on one of them, or on a
// new one. A [Lease] is the use of a session by one request. [Conn] is the
// connection of a session: it reports its bytes to the Trace of the request,
// upgrades to TLS, and records whether another request may use it.
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
	IdleTimeout  = 45 * time.Second // a session may wait in a Pool
	ReplyTimeout = 60 * time.Second // a server may take for one reply
)

// A Session is one connection, on which a driver makes one request after
// another. The Pool calls Claim and Release around each request.
type Session interface {
	io.Closer // ends the session as the protocol asks, without waiting for the server

	// Abort ends the session at once. It may be called beside any method.
	Abort()

	// Claim begins a request on an idle session, which reports to t. It
	// returns false if the session turns out to be of no use.
	Claim(t *fetch.Trace) bool

	// Release ends a request and reports whether another may use the session.
	Release() bool

	// Stale reports whether the session broke before the server answered
	// anything since Claim.
	Stale() bool
}

// Key returns the key of the session for a request: what two requests must have
// in common to share one. Auth is the login of the session; nil is none. More
// is what else tells sessions apart, always of the same length in one Pool.
func Key(ctx context.Context, n fetch.Net, t fetch.Target, auth *fetch.Credential, more ...string) string {
	parts := append([]string{n.Key(ctx), t.Address()}, more...)
	if auth != nil {
		parts = append(parts, auth.User, auth.Password.Reveal(), auth.Account.Reveal(), auth.Token.Reveal())
	}
	return strings.Join(parts, "\x00")
}

// ErrStale is the error of a request that needs another session than the idle
// one that it was given. Pool.Do makes the request again.
var ErrStale = errors.New("stale session")

// Enter makes the new session s ready for requests by running enter: the
// greeting, TLS, a login. The session ends when ctx ends or enter fails.
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
