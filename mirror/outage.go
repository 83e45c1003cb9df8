package mirror

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/anyurl/fetch/fetch"
)

// An outage describes a server that does not respond or that responds with a
// temporary error.
type outage struct {
	failures int       // number of consecutive failures, each followed by a pause
	until    time.Time // end of the current pause
	err      error     // error of the last failure
}

// outages contains the current outages by origin. One server of a host can fail
// while another server of this host works.
type outages struct {
	tries int // number of pauses after which a server gets no more requests

	mu       sync.Mutex
	byOrigin map[fetch.Origin]outage
}

func newOutages(tries int) outages {
	return outages{tries: tries, byOrigin: map[fetch.Origin]outage{}}
}

// backoff returns the pause after a temporary failure. The parameter times is
// the number of earlier failures.
func backoff(times int) time.Duration {
	return min(2*time.Second<<(2*min(times, 6)), 10*time.Minute)
}

// retryAfter returns the value of the Retry-After field that belongs to err, or
// 0 if there is none.
func retryAfter(err error) time.Duration {
	if e, ok := errors.AsType[*fetch.Error](err); ok {
		return e.RetryAfter
	}
	return 0
}

// givenUp returns a non-nil error if the server of v gets no more requests in
// this run. The error contains the last error of the server.
func (s *outages) givenUp(v *visit) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := s.byOrigin[v.origin]
	if !v.hasOrigin() || last.failures < s.tries {
		return nil
	}
	return fmt.Errorf("%w (no request: the server gets no more requests in this run)", last.err)
}

// pauseUntil records whether v failed because of an outage. It returns the end
// of the pause during which the host gets no requests, or the zero Time if
// there is no pause.
func (s *outages) pauseUntil(v *visit) time.Time {
	if !v.hasOrigin() || !v.requested {
		return time.Time{}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	last := s.byOrigin[v.origin]
	switch {
	case !isOutage(v):
		delete(s.byOrigin, v.origin)
		return time.Time{}
	case v.started.Before(last.until): // v started before the pause
		return last.until
	}
	until, times := v.started.Add(max(backoff(last.failures), retryAfter(v.err))), last.failures+1
	if !fetch.Retryable(v.err) { // the host name does not exist
		times = s.tries
	}
	s.byOrigin[v.origin] = outage{times, until, withoutURL(v.err)}
	if times >= s.tries {
		return time.Time{} // other URLs of the server get no request in this run
	}
	return until
}

// withoutURL removes the URL from an error that is kept for later visits. It
// belongs to one request, and can have several KiB for each of many hosts.
func withoutURL(err error) error {
	if e, ok := errors.AsType[*fetch.Error](err); ok {
		return e.Err
	}
	return err
}

// isOutage reports whether v failed because of an outage of its server, and not
// because of the requested object.
func isOutage(v *visit) bool {
	e, ok := errors.AsType[*fetch.Error](v.err)
	switch fault := fetch.FaultOf(v.err); {
	case fault == fetch.TryLater && ok && v.scheme.Traits.Web && v.resp != nil:
		return e.RetryAfter > 0 || e.Code == 429 || e.Code == 503
	case v.resp != nil:
		return false
	default:
		server := []fetch.Fault{fetch.TryLater, fetch.Connect, fetch.Timeout}
		return fault == fetch.DNS || slices.Contains(server, fault) && fetch.Retryable(v.err)
	}
}
