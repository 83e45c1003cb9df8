package recordcmd

import (
	"bytes"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/cmd/fetch/internal/console"
)

// TestRefusalLog checks the number and the size of the messages about refused
// requests.
func TestRefusalLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		l := newRefusalLog(&console.Streams{Stderr: &out})
		r := httptest.NewRequest("GET", "http://x.example/", nil)
		r.Method, r.RequestURI = strings.Repeat("M", 1000), "http://x.example/"+strings.Repeat("\x1b", 200_000)
		for range 1000 {
			l.note(r, "no token")
		}
		if n := strings.Count(out.String(), "\n"); n != refusalBurst || out.Len() > n*2000 {
			t.Errorf("%d messages, %d bytes", n, out.Len())
		}
		out.Reset()
		time.Sleep(refusalPause)
		l.note(r, "no token")
		if text := out.String(); !strings.Contains(text, "900 other refusals\n") || strings.Count(text, "\n") != 2 {
			t.Errorf("after a pause: %q", text)
		}
	})
}
