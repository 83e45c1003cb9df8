package http

import (
	"context"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/anyurl/fetch/fetch"
)

// sendLimits ends requests of net/http whose server accepts no part of them for
// bodyStall. Package net/http waits without a limit until the server permits
// another request on the connection, and until it enlarges the flow-control
// window for a body. Other frames keep the connection open. One timer serves all
// requests, because most of them are sent at once. The zero value is ready.
type sendLimits struct {
	mu      sync.Mutex
	sending map[*sendLimit]time.Time // last progress of each request that is being sent
	timer   *time.Timer              // nil if it is not running
}

// A sendLimit is the part of sendLimits for one request.
type sendLimit struct {
	all *sendLimits
	end context.CancelCauseFunc
}

// limit returns a sendLimit, and the context for its request.
func (s *sendLimits) limit(ctx context.Context) (context.Context, *sendLimit) {
	ctx, end := context.WithCancelCause(ctx)
	return ctx, &sendLimit{all: s, end: end}
}

// start is called when the request gets a connection.
func (l *sendLimit) start() {
	s := l.all
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sending == nil {
		s.sending = map[*sendLimit]time.Time{}
	}
	s.sending[l] = time.Now()
	if s.timer == nil {
		s.timer = time.AfterFunc(bodyStall, s.check)
	}
}

// progress is called when the server has accepted a part of the body.
func (l *sendLimit) progress() {
	s := l.all
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.sending[l]; ok {
		s.sending[l] = time.Now()
	}
}

// stop is called when the request was sent or has ended.
func (l *sendLimit) stop() {
	s := l.all
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sending, l)
}

// check ends the requests that made no progress, and starts the timer again for
// the others.
func (s *sendLimits) check() {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, next := time.Now(), bodyStall
	for l, last := range s.sending {
		left := last.Add(bodyStall).Sub(now)
		if left <= 0 {
			l.end(fetch.Timeout.Errorf("the server accepted no part of the request for %v", bodyStall))
			delete(s.sending, l)
			continue
		}
		next = min(next, left)
	}
	if len(s.sending) > 0 {
		s.timer.Reset(next)
	} else {
		s.timer = nil
	}
}

// watch lets the body of r call progress.
func (l *sendLimit) watch(r *http.Request) {
	if r.Body == nil || r.Body == http.NoBody {
		return
	}
	open := r.GetBody
	r.Body = sendBody{r.Body, l}
	r.GetBody = func() (io.ReadCloser, error) {
		body, err := open()
		if err != nil {
			return nil, err
		}
		return sendBody{body, l}, nil
	}
}

// maxPart is the maximum size of a part of a body.
const maxPart = 16 << 10

// A sendBody is the body of a request. Package net/http reads the next part after
// the server has accepted the last one.
type sendBody struct {
	io.ReadCloser
	limit *sendLimit
}

func (b sendBody) Read(p []byte) (int, error) {
	b.limit.progress()
	return b.ReadCloser.Read(p[:min(len(p), maxPart)])
}
