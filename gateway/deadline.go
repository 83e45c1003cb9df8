package gateway

import (
	"context"
	"io"
	"net/http"
	"time"

	"github.com/anyurl/fetch/fetch"
)

// minSpeed is the minimum speed of a client in bytes per second, after
// requestTimeout. A slower client could occupy one of the running requests.
const minSpeed = 16 << 10

// A deadline cancels a request that takes longer than requestTimeout. The bytes
// that were sent extend the time.
type deadline struct {
	start      time.Time
	timer      *time.Timer
	controller *http.ResponseController
	sent       int64
	extended   int64 // value of sent when the time was last extended
}

// withDeadline returns a context that ends with the deadline. The caller must
// call the returned function at the end of the request.
func withDeadline(ctx context.Context, w http.ResponseWriter) (context.Context, *deadline, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	d := &deadline{start: time.Now(), controller: http.NewResponseController(w)}
	d.timer = time.AfterFunc(requestTimeout, func() { cancel(fetch.Timeout.Errorf("the request takes too long")) })
	return ctx, d, func() {
		d.timer.Stop()
		cancel(nil)
	}
}

// add extends the time for n bytes that were sent.
func (d *deadline) add(n int) {
	const step = 1 << 20
	if d.sent += int64(n); d.sent < d.extended+step {
		return
	}
	d.extended = d.sent
	end := d.start.Add(requestTimeout + time.Duration(d.sent/minSpeed)*time.Second)
	if d.timer.Stop() { // otherwise the request has been canceled
		d.timer.Reset(time.Until(end))
	}
	d.controller.SetWriteDeadline(end) // an error means that the writer is not a connection
}

// A deadlineWriter is a writer whose bytes extend a deadline.
type deadlineWriter struct {
	io.Writer
	deadline *deadline
}

func (w deadlineWriter) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	w.deadline.add(n)
	return n, err
}
