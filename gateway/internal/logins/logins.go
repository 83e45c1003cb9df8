// Package logins keeps the logins that users enter in forms of the gateway. It
// stores them only in memory, separately for each session of a browser and for
// each origin.
package logins

import (
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/anyurl/fetch/fetch"
)

// The bounds of a [Store]. The least recently used login is forgotten first.
const (
	MaxUnused     = time.Hour      // since the last use of a login
	MaxAge        = 12 * time.Hour // since the user entered a login
	MaxPerSession = 32
	MaxTotal      = 512

	maxUser     = 512  // bytes of a user name
	maxPassword = 4096 // bytes of a password
)

// A Store contains the logins of all sessions. The zero value is empty and ready
// to use. It is safe for concurrent use.
type Store struct {
	mu     sync.Mutex
	all    map[key]*entry
	timer  *time.Timer // removes logins that have expired; nil if there are no logins
	closed bool
}

type key struct {
	session string
	origin  fetch.Origin
}

type entry struct {
	credential    fetch.Credential
	entered, used time.Time
	accepted      bool // the server has accepted the login
}

// end returns the time at which the login expires.
func (e *entry) end() time.Time {
	end := e.used.Add(MaxUnused)
	if limit := e.entered.Add(MaxAge); limit.Before(end) {
		return limit
	}
	return end
}

// Check returns an error if no server can accept the user name and the
// password, because they are too long or contain control characters.
func Check(user, password string) error {
	switch {
	case user == "":
		return fetch.Usage.Errorf("the user name is missing")
	case len(user) > maxUser || len(password) > maxPassword:
		return fetch.Usage.Errorf("the user name or the password is too long")
	case strings.ContainsAny(user+password, "\x00\r\n"):
		return fetch.Usage.Errorf("the user name or the password contains a line break or NUL")
	}
	return nil
}

// Add stores a credential of a session. It replaces one with the same origin.
// The field Origin of the credential must be set.
func (s *Store) Add(session string, c fetch.Credential) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	now := time.Now()
	s.expire(now)
	if s.all == nil {
		s.all = map[key]*entry{}
	}
	s.all[key{session, c.Origin}] = &entry{credential: c, entered: now, used: now}
	s.limit(MaxPerSession, func(k key) bool { return k.session == session })
	s.limit(MaxTotal, func(key) bool { return true })
	s.schedule(now)
}

// limit removes the least recently used logins for whose keys the function
// counts returns true, until at most n of them remain.
func (s *Store) limit(n int, counts func(key) bool) {
	for {
		var oldest *key
		found := 0
		for k, e := range s.all {
			if !counts(k) {
				continue
			}
			found++
			if oldest == nil || e.used.Before(s.all[*oldest].used) {
				oldest = &k
			}
		}
		if found <= n {
			return
		}
		delete(s.all, *oldest)
	}
}

// Find returns the login of a session for an origin. It returns nil if there is
// none, or if it has another user name than user. An empty user permits every
// name.
func (s *Store) Find(session string, o fetch.Origin, user string) *fetch.Credential {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	s.expire(now)
	e := s.all[key{session, o}]
	if e == nil || user != "" && user != e.credential.User {
		return nil
	}
	e.used = now
	c := e.credential
	return &c
}

// Report records whether the server accepted the login c, which Find returned. A
// login that the server rejects is forgotten, unless the server has accepted it
// before.
func (s *Store) Report(session string, c *fetch.Credential, accepted bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := key{session, c.Origin}
	e := s.all[k]
	switch {
	case e == nil || e.credential != *c: // the user has entered another login
	case accepted:
		e.accepted = true
	case !e.accepted:
		delete(s.all, k)
	}
}

// Forget removes the login of a session for an origin.
func (s *Store) Forget(session string, o fetch.Origin) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, key{session, o})
}

// ForgetAll removes all logins of a session.
func (s *Store) ForgetAll(session string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for k := range s.all {
		if k.session == session {
			delete(s.all, k)
		}
	}
}

// A Login describes a login without its password.
type Login struct {
	Origin fetch.Origin
	User   string
	End    time.Time // when the login expires, unless it is used before
}

// List returns the logins of a session, sorted by host.
func (s *Store) List(session string) (list []Login) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire(time.Now())
	for k, e := range s.all {
		if k.session == session {
			list = append(list, Login{k.origin, e.credential.User, e.end()})
		}
	}
	slices.SortFunc(list, func(a, b Login) int {
		if c := strings.Compare(a.Origin.Host, b.Origin.Host); c != 0 {
			return c
		}
		if c := strings.Compare(a.Origin.Scheme, b.Origin.Scheme); c != 0 {
			return c
		}
		return int(a.Origin.Port) - int(b.Origin.Port)
	})
	return list
}

// Close forgets all logins. Later calls of Add have no effect.
func (s *Store) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all, s.closed = nil, true
	s.schedule(time.Time{})
}

// expire removes the logins that have expired.
func (s *Store) expire(now time.Time) {
	for k, e := range s.all {
		if !now.Before(e.end()) {
			delete(s.all, k)
		}
	}
}

// schedule starts the timer that removes the next login that expires. It stops
// the timer if there are no logins.
func (s *Store) schedule(now time.Time) {
	if s.timer != nil {
		s.timer.Stop()
		s.timer = nil
	}
	var next time.Time
	for _, e := range s.all {
		if end := e.end(); next.IsZero() || end.Before(next) {
			next = end
		}
	}
	if !next.IsZero() {
		s.timer = time.AfterFunc(next.Sub(now), s.remove)
	}
}

// remove removes the logins that have expired, and starts the timer again.
func (s *Store) remove() {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	s.expire(now)
	s.schedule(now)
}
