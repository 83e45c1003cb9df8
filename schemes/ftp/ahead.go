package ftp

import (
	"slices"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/sessions"
)

// Who brings file after file waits for a round trip less in each: the next data
// connection is asked for as soon as the last has ended, and the server opens
// its port while we see to what came.

const (
	several   = 3               // transfers: another is likely
	aheadTime = 2 * time.Second // in which the port is used, or not at all: nobody knows how long it is open
)

// askAhead asks for the next data connection, before the reply that ends a
// transfer is read, and reports whether it did. Before the data has ended it
// would be too early: a server that takes commands meanwhile might end the
// transfer. A server that is gone may have said that it was whole.
func (s *session) askAhead() bool {
	if s.opened < several || s.tell(s.ways[0]) != nil {
		return false
	}
	s.ClearTrace() // it belongs to the next request
	s.asked = time.Now()
	return s.Flush() == nil
}

// goesOn reports whether the first that a request needs is what was asked for
// ahead.
func (d *driver) goesOn(s *session, req *fetch.Request, p path) bool {
	here := !s.lost && slices.Equal(p.dirs, s.dirs)
	return !p.list && d.surely(req) && d.ready(s) && here && time.Since(s.asked) < aheadTime
}

// settle reads the reply to what was asked for ahead in vain. It takes several
// transfers more until that is done again.
func (s *session) settle() error {
	s.opened = 1
	s.TraceCommand(s.ways[0])
	r, err := s.reply(sessions.ReplyTimeout)
	if err == nil {
		err = s.inStep()
	}
	if err == nil && s.IsBroken() {
		err = refused(s.ways[0], r)
	}
	return err
}
