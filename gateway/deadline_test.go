package gateway

import (
	"context"
	"errors"
	"io"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/gateway/internal/web"
)

// TestDeadline checks when a request ends that sends a number of bytes each
// minute.
func TestDeadline(t *testing.T) {
	for name, c := range map[string]struct {
		chunk int
		limit time.Duration // end of the request, or 0 if it lasts for 2 hours
	}{
		"no bytes":           {0, web.RequestTimeout},
		"slow client":        {120 << 10, web.RequestTimeout + 67*time.Second}, // extended once, for 1080 KiB
		"fast enough client": {1 << 20, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, d, end := withDeadline(t.Context(), httptest.NewRecorder())
				defer end()
				w := deadlineWriter{io.Discard, d}
				start := time.Now()
				for ctx.Err() == nil && time.Since(start) < 2*time.Hour {
					select {
					case <-time.After(time.Minute):
						w.Write(make([]byte, c.chunk))
					case <-ctx.Done():
					}
				}
				took := time.Since(start)
				switch {
				case c.limit == 0 && ctx.Err() != nil:
					t.Errorf("the request ended after %v", took)
				case c.limit != 0 && (took != c.limit || !errors.Is(context.Cause(ctx), fetch.Timeout)):
					t.Errorf("the request ended after %v, want %v: %v", took, c.limit, context.Cause(ctx))
				}
			})
		})
	}
}
