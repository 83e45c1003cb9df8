package recordcmd

import (
	"fmt"
	"net/http"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/uri"
)

// Limits of the messages about refused and failed requests. Clients without the
// token, and the scripts of a page, can send any number of requests, with URLs of
// 256 KiB.
const (
	refusalBurst = 100
	refusalPause = time.Second // until one more message is printed
	refusalText  = "%.20s %.200s: %s"

	// Parts of a long message about a failed request: the start of the URL, and the
	// cause.
	failureStart = 200
	failureEnd   = 400
)

// A refusalLog prints messages about refused and failed requests.
type refusalLog struct {
	*console.Streams
	limit *rate.Limiter

	mu      sync.Mutex
	omitted int // messages since the last one that was printed
}

func newRefusalLog(s *console.Streams) *refusalLog {
	return &refusalLog{Streams: s, limit: rate.NewLimiter(rate.Every(refusalPause), refusalBurst)}
}

// refused prints a message about a refused request, unless there were too many.
func (l *refusalLog) refused(r *http.Request, reason string) {
	l.print(refusalText, r.Method, r.RequestURI, reason)
}

// failed prints a message about a failed request, unless there were too many.
func (l *refusalLog) failed(format string, args ...any) {
	text := uri.Redact(fmt.Sprintf(format, args...)) // before a password can lose its end
	if len(text) > failureStart+failureEnd {
		text = text[:failureStart] + "..." + text[len(text)-failureEnd:]
	}
	l.print("%s", text)
}

func (l *refusalLog) print(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.limit.Allow() {
		l.omitted++
		return
	}
	if l.omitted > 0 {
		l.Note("%d other requests were refused or failed", l.omitted)
		l.omitted = 0
	}
	l.Note(format, args...)
}
