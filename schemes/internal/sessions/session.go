// Package sessions keeps network connections open and reuses them for several
// requests to the same server.
//
// A [Retriever] performs a request of a driver on a session. A [Pool] holds idle
// sessions and runs each request on an idle or new session.
// A [Lease] gives one request the exclusive use of a session. A [Conn] is the
// network connection of a session. It reports its traffic to the Trace,
// upgrades to TLS, and records whether it can be reused. [Text] and [Messages]
// exchange lines and binary messages on a Conn. A [Single] is a connection for
// one request.
package sessions

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/trace"
)

const (
	IdleTimeout  = 45 * time.Second // default maximum idle time of a session
	ReplyTimeout = 60 * time.Second // maximum time for one reply of the server
	SlotTimeout  = 60 * time.Second // the WaitTimeout of servers that accept only a few sessions
)

// A Session is a connection to a server that serves one request at a time. The
// Pool calls Claim before each reuse and Release after each request.
type Session interface {
	io.Closer // Close ends the session with the quit command, without waiting for a reply

	// Abort closes the connection immediately. It may be called concurrently
	// with all other methods.
	Abort()

	// Claim prepares an idle session for a request. The session must report its
	// traffic to t. Claim returns false if the session cannot be used.
	Claim(t *trace.Trace) bool

	// Release is called at the end of a request. It reports whether the session
	// can be used for another request.
	Release() bool

	// Stale reports whether a reused session failed before the server answered
	// the current request. In this case the request can be retried on another
	// session.
	Stale() bool
}

// Key returns the key of a session in a [Pool]. Requests with equal keys may
// share a session. The argument auth holds the credentials of the session, or
// is nil.
//
// The address of the server precedes the first NUL byte of the key. If the
// server accepts no more sessions, the Pool closes idle sessions of the same
// server that have other keys.
//
// The argument more lists other properties of the session. All keys of a Pool
// must have the same number of these properties.
func Key(ctx context.Context, n fetch.Net, t fetch.Target, auth *fetch.Credential, more ...string) string {
	parts := append([]string{t.Address(), n.Key(ctx)}, more...)
	if auth != nil {
		parts = append(parts, auth.User, auth.Password.Reveal(), auth.Account.Reveal(), auth.Token.Reveal())
	}
	return strings.Join(parts, "\x00")
}

// splitKey returns the parts of a key: the server, the permissions of the
// request, and other properties of the session. See [Key].
func splitKey(key string) (server, permissions, rest string) {
	server, more, _ := strings.Cut(key, "\x00")
	permissions, rest, _ = strings.Cut(more, "\x00")
	return server, permissions, rest
}

// ErrStale means that the server has closed an idle session, or that the
// request requires a different session. [Pool.Do] then retries the request on
// another session.
var ErrStale = errors.New("stale session")

// Start prepares a new session for requests. It calls handshake, which reads
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
