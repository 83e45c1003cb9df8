package gateway

import (
	"context"
	"io"
	"net/http"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/gateway/internal/web"
)

// minSpeed is the minimum download speed of a client after web.RequestTimeout, in
// bytes per second. A slower client would occupy a request slot for too long.
const minSpeed = 16 << 10

// A deadline cancels a request that takes longer than web.RequestTimeout. Each byte
// that is sent extends this time limit.
type deadline struct {
	start      time.Time
	timer      *time.Timer
	controller *http.ResponseController
	sent       int64
	extended   int64 // value of sent when the time limit was last extended
}

// withDeadline returns a context that is canceled when the returned deadline
// passes. The caller must call the returned function at the end of the request.
func withDeadline(ctx context.Context, w http.ResponseWriter) (context.Context, *deadline, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	d := &deadline{start: time.Now(), controller: http.NewResponseController(w)}
	d.timer = time.AfterFunc(web.RequestTimeout, func() { cancel(fetch.Timeout.Errorf("the request takes too long")) })
	return ctx, d, func() {
		d.timer.Stop()
		cancel(nil)
	}
}

// add extends the time limit after n bytes were sent.
func (d *deadline) add(n int) {
	const step = 1 << 20
	if d.sent += int64(n); d.sent < d.extended+step {
		return
	}
	d.extended = d.sent
	end := d.start.Add(web.RequestTimeout + time.Duration(d.sent/minSpeed)*time.Second)
	if d.timer.Stop() { // otherwise the request has been canceled
		d.timer.Reset(time.Until(end))
	}
	d.controller.SetWriteDeadline(end) // an error means that the writer is not a connection
}

// A deadlineWriter extends a deadline by the bytes that it writes.
type deadlineWriter struct {
	io.Writer
	deadline *deadline
}

func (w deadlineWriter) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	w.deadline.add(n)
	return n, err
}

// streamBody makes the body of a live page send all bytes that were written to
// the client, each time before it waits for the server. The caller has sent the
// header.
func (x *exchange) streamBody(resp *fetch.Response) {
	if x.live {
		resp.Body = &streamedBody{resp.Body, http.NewResponseController(x.w)}
	}
}

type streamedBody struct {
	io.ReadCloser
	client *http.ResponseController
}

func (b *streamedBody) Read(p []byte) (int, error) {
	b.client.Flush() // the next write returns the same error
	return b.ReadCloser.Read(p)
}
