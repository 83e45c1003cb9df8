package recordcmd

import (
	"bytes"
	"context"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/capture"
	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/http"
)

// TestRefusalLog checks the number and the size of the messages about refused and
// failed requests.
func TestRefusalLog(t *testing.T) {
	r := httptest.NewRequest("GET", "http://x.example/", nil)
	r.Method, r.RequestURI = strings.Repeat("M", 1000), "http://x.example/"+strings.Repeat("\x1b", 200_000)
	for _, test := range []struct {
		name, end string
		print     func(*refusalLog)
	}{
		{"refused", ": no token\n", func(l *refusalLog) { l.refused(r, "no token") }},
		{"failed", ": denied by policy\n", func(l *refusalLog) { l.failed("get %s: denied by policy", r.RequestURI) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var out bytes.Buffer
				l := newRefusalLog(&console.Streams{Stderr: &out})
				for range 1000 {
					test.print(l)
				}
				n := strings.Count(out.String(), "\n")
				if n != refusalBurst || out.Len() > n*3000 || !strings.HasSuffix(out.String(), test.end) || !strings.Contains(out.String(), "x.example") {
					t.Errorf("%d messages, %d bytes", n, out.Len())
				}
				out.Reset()
				time.Sleep(refusalPause)
				test.print(l)
				if text := out.String(); !strings.Contains(text, "900 other requests were refused or failed\n") || strings.Count(text, "\n") != 2 {
					t.Errorf("after a pause: %q", text)
				}
			})
		})
	}
}

// TestFailedRequests sends requests that the policy denies, as a script of a page
// can do, and checks what the command prints.
func TestFailedRequests(t *testing.T) {
	if testing.Short() {
		t.Skip("sends 1,000 requests with long URLs")
	}
	var out bytes.Buffer
	l := newRefusalLog(&console.Streams{Stderr: &out})
	h := &capture.Handler{
		Client: fetch.New(fetch.Options{Policy: fetch.Typed()}, http.Schemes(http.Options{})...), Note: l.failed,
		Store: func(_ context.Context, x *capture.Exchange) error { x.Free(); return nil },
	}
	defer h.Client.Close()
	for range 1000 {
		r := httptest.NewRequest("GET", "http://127.0.0.1:1/"+strings.Repeat("x", 50_000), nil)
		h.ServeHTTP(httptest.NewRecorder(), r)
	}
	if n := strings.Count(out.String(), "denied by policy"); n < refusalBurst || n > refusalBurst+60 || out.Len() > n*1000 {
		t.Errorf("%d messages, %d bytes", n, out.Len())
	}
}
