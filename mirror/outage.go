package mirror

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/anyurl/fetch/fetch"
)

// silence is a server that does not answer, or only that it cannot now.
type outage struct {
	failures int       // in a row, with a pause behind each
	until    time.Time // the end of the newest pause
	err      error     // the newest
}

// silences are those servers by their origins: of one host one may have ended
// and another not.
type outages struct {
	tries int // after so many pauses in a row a server gets no more requests

	mu       sync.Mutex
	byOrigin map[fetch.Origin]outage
}

func newOutages(tries int) outages {
	return outages{tries: tries, byOrigin: map[fetch.Origin]outage{}}
}

// backOff returns how long an object or a server that failed for now gets no
// requests.
func backoff(times int) time.Duration {
	return min(2*time.Second<<(2*min(times, 6)), 10*time.Minute)
}

// askedFor returns how long the server asked for no requests: its Retry-After.
func retryAfter(err error) time.Duration {
	if e, ok := errors.AsType[*fetch.Error](err); ok {
		return e.RetryAfter
	}
	return 0
}

// lost returns the last error of the server of v if that has failed so often
// that it gets no more requests in this run.
func (s *outages) givenUp(v *visit) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	was := s.byOrigin[v.origin]
	if !v.hasOrigin || was.failures < s.tries {
		return nil
	}
	err := was.err
	if e, ok := errors.AsType[*fetch.Error](err); ok {
		err = e.Err // without the URL of another request
	}
	return fmt.Errorf("%w (no request: the server gets no more in this run)", err)
}

// pause tells until when the host of v is to be left alone by all visits; zero
// is not at all.
func (s *outages) pauseUntil(v *visit) time.Time {
	if !v.hasOrigin || !v.requested {
		return time.Time{}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	was := s.byOrigin[v.origin]
	switch {
	case !isOutage(v):
		delete(s.byOrigin, v.origin)
		return time.Time{}
	case v.started.Before(was.until): // it was under way before the pause
		return was.until
	}
	until, times := v.started.Add(max(backoff(was.failures), retryAfter(v.err))), was.failures+1
	if !fetch.Retryable(v.err) { // the host is unknown
		times = s.tries
	}
	s.byOrigin[v.origin] = outage{times, until, v.err}
	if times >= s.tries {
		return time.Time{} // its other URLs are parked without a request
	}
	return until
}

// silent reports whether v says something of its server rather than of one
// object.
func isOutage(v *visit) bool {
	e, ok := errors.AsType[*fetch.Error](v.err)
	switch fault := fetch.FaultOf(v.err); {
	case fault == fetch.TryLater && ok && v.scheme.Traits.Web && v.resp != nil:
		return e.RetryAfter > 0 || e.Code == 429 || e.Code == 503
	case v.resp != nil:
		return false
	default:
		return fault == fetch.DNS || slices.Contains([]fetch.Fault{fetch.TryLater, fetch.Connect, fetch.Timeout}, fault) && fetch.Retryable(v.err)
	}
}
