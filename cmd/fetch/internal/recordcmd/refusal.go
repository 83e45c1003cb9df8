package recordcmd

import (
	"net/http"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/anyurl/fetch/cmd/fetch/internal/console"
)

// Limits of the messages about refused requests. Clients without the token can send
// any number of requests, with URLs of 256 KiB.
const (
	refusalBurst = 100
	refusalPause = time.Second // until one more message is printed
	refusalText  = "%.20s %.200s: %s"
)

// A refusalLog prints messages about refused requests.
type refusalLog struct {
	*console.Streams
	limit *rate.Limiter

	mu      sync.Mutex
	omitted int // refusals since the last message
}

func newRefusalLog(s *console.Streams) *refusalLog {
	return &refusalLog{Streams: s, limit: rate.NewLimiter(rate.Every(refusalPause), refusalBurst)}
}

// note prints a message about a refused request, unless there were too many.
func (l *refusalLog) note(r *http.Request, reason string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.limit.Allow() {
		l.omitted++
		return
	}
	if l.omitted > 0 {
		l.Note("%d other refusals", l.omitted)
		l.omitted = 0
	}
	l.Note(refusalText, r.Method, r.RequestURI, reason)
}
