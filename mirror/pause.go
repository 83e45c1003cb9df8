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
type silence struct {
	times int       // in a row, with a pause behind each
	until time.Time // the end of the newest pause
	err   error     // the newest
}

// silences are those servers by their origins: of one host one may have ended
// and another not.
type silences struct {
	mu sync.Mutex
	of map[fetch.Origin]silence
}

// backOff is how long what failed for now is left alone.
func backOff(times int) time.Duration {
	return min(2*time.Second<<(2*min(times, 6)), 10*time.Minute)
}

// askedFor is how long the server asked to be left alone.
func askedFor(err error) time.Duration {
	if e, ok := errors.AsType[*fetch.Error](err); ok {
		return e.RetryAfter
	}
	return 0
}

// lost returns the last error of the server of v if that has failed so often
// that it gets no more requests in this run.
func (m *mirror) lost(v *visit) error {
	m.silences.mu.Lock()
	defer m.silences.mu.Unlock()
	s := m.silences.of[v.origin]
	if !v.sited || s.times < m.Tries {
		return nil
	}
	err := s.err
	if e, ok := errors.AsType[*fetch.Error](err); ok {
		err = e.Err // without the URL of another request
	}
	return fmt.Errorf("%w (no request: the server gets no more in this run)", err)
}

// pause tells until when the host of v is to be left alone by all visits; zero
// is not at all.
func (m *mirror) pause(v *visit) time.Time {
	if !v.sited || !v.asked {
		return time.Time{}
	}
	s := &m.silences
	s.mu.Lock()
	defer s.mu.Unlock()
	was := s.of[v.origin]
	switch {
	case !silent(v):
		delete(s.of, v.origin)
		return time.Time{}
	case v.at.Before(was.until): // it was under way before the pause
		return was.until
	}
	until, times := v.at.Add(max(backOff(was.times), askedFor(v.err))), was.times+1
	if !fetch.Retryable(v.err) { // the host is unknown
		times = m.Tries
	}
	s.of[v.origin] = silence{times, until, v.err}
	if times >= m.Tries {
		return time.Time{} // its other URLs are parked without a request
	}
	return until
}

// silent reports whether v says something of its server rather than of one
// object.
func silent(v *visit) bool {
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
