package mirror

import (
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/anyurl/fetch/fetch"
)

// silence is a server that does not answer, or only that it cannot now.
type silence struct {
	times int       // in a row, with a pause behind each
	until time.Time // the end of the newest pause
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

// lost reports whether the server of v was silent so often that nothing more
// is asked of it in this run.
func (m *mirror) lost(v *visit) bool {
	m.silences.mu.Lock()
	defer m.silences.mu.Unlock()
	return v.sited && m.silences.of[v.origin].times >= m.Tries
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
	until := v.at.Add(max(backOff(was.times), askedFor(v.err)))
	s.of[v.origin] = silence{was.times + 1, until}
	if was.times+1 >= m.Tries {
		return time.Time{} // its others fail without being asked for
	}
	return until
}

// silent reports whether v says something of its server rather than of one
// object.
func silent(v *visit) bool {
	e, ok := errors.AsType[*fetch.Error](v.err)
	switch fault := fetch.FaultOf(v.err); {
	case fault == fetch.TryLater && ok && isWeb(v.url) && v.resp != nil:
		return e.RetryAfter > 0 || e.Code == 429 || e.Code == 503
	case v.resp != nil:
		return false
	default:
		return slices.Contains([]fetch.Fault{fetch.TryLater, fetch.Connect, fetch.Timeout, fetch.DNS}, fault) && fetch.Retryable(v.err)
	}
}
