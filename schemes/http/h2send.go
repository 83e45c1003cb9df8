package http

import (
	"context"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/anyurl/fetch/fetch"
)

// A sendLimit ends a request of net/http whose server accepts no part of it for
// bodyStall. Package net/http waits without a limit until the server permits
// another request on the connection, and until it enlarges the flow-control
// window for a body. Other frames keep the connection open.
type sendLimit struct {
	end context.CancelCauseFunc

	mu    sync.Mutex
	timer *time.Timer // nil unless the request is being sent
}

// newSendLimit returns a sendLimit, and the context for its request.
func newSendLimit(ctx context.Context) (context.Context, *sendLimit) {
	ctx, end := context.WithCancelCause(ctx)
	return ctx, &sendLimit{end: end}
}

// start is called when the request gets a connection.
func (l *sendLimit) start() {
	l.stop()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.timer = time.AfterFunc(bodyStall, func() {
		l.end(fetch.Timeout.Errorf("the server accepted no part of the request for %v", bodyStall))
	})
}

// progress is called when the server has accepted a part of the body.
func (l *sendLimit) progress() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.timer != nil {
		l.timer.Reset(bodyStall)
	}
}

// stop is called when the request was sent or has ended.
func (l *sendLimit) stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.timer != nil {
		l.timer.Stop()
		l.timer = nil
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
