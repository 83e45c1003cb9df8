package http

import (
	"context"
	"sync"

	"github.com/anyurl/fetch/internal/base/turn"
)

// maxServers is the maximum number of servers that h2Servers records.
const maxServers = 1024

// h2Servers records the first request to each server, because concurrent
// requests can share the connection of this request. It also records the servers
// that do not support HTTP/2. The zero value is empty.
type h2Servers struct {
	mu        sync.Mutex
	first     map[h2Conn]chan struct{} // closed when the head of the first request was sent or it has failed
	http1Only map[string]bool          // servers that selected HTTP/1.1, by address
}

// awaitFirst waits until the head of the first request with the given key to a
// server was sent. The first request does not wait, but its caller must call sent
// after its head was sent or it has failed. The error is errHTTP1Only if the
// server does not support HTTP/2.
func (s *h2Servers) awaitFirst(ctx context.Context, key poolKey, addr string) (sent func(), err error) {
	first, isFirst := s.firstRequest(h2Conn{key, addr})
	if isFirst {
		return sync.OnceFunc(func() { close(first) }), nil
	}
	select {
	case <-first:
	default:
		if err := awaitOther(ctx, first); err != nil {
			return nil, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.http1Only[addr] {
		return nil, errHTTP1Only
	}
	return func() {}, nil
}

// awaitOther waits until the head of the first request was sent, and then for the
// pause between requests to the host.
func awaitOther(ctx context.Context, first <-chan struct{}) error {
	select {
	case <-first:
		turn.Pause(ctx)
		return nil
	case <-ctx.Done():
		return requestFault(ctx, ctx.Err())
	}
}

// firstRequest returns the channel of the first request to a server. The result
// isFirst is true if there was no request yet.
func (s *h2Servers) firstRequest(server h2Conn) (first chan struct{}, isFirst bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if first = s.first[server]; first != nil {
		return first, false
	}
	if s.first == nil || len(s.first) >= maxServers {
		s.first, s.http1Only = map[h2Conn]chan struct{}{}, nil
	}
	first = make(chan struct{})
	s.first[server] = first
	if s.http1Only[server.addr] { // found by a request with another key
		close(first)
		return first, false
	}
	return first, true
}

// setHTTP1Only records that a server selected HTTP/1.1.
func (s *h2Servers) setHTTP1Only(addr string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.http1Only == nil {
		s.http1Only = map[string]bool{}
	}
	s.http1Only[addr] = true
}
