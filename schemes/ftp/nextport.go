package ftp

import (
	"slices"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/sessions"
)

// After several files in a row, the driver requests the next data port as soon
// as the data of a file has ended. The server opens the port while the client
// processes the file, which saves one round trip per file.

const (
	manyFiles = 3               // after so many transfers, another one is likely
	aheadTime = 2 * time.Second // the port is not used later, because the server may have closed it
)

// askAhead requests the next data port before it reads the final reply of the
// current transfer, and reports whether it sent the request. The data must have
// ended before, because some servers abort a transfer when a command arrives. A
// write error is ignored, because the final reply may have arrived already.
func (s *session) askAhead() bool {
	if s.opened < manyFiles || s.queue(s.ways[0]) != nil {
		return false
	}
	s.ClearTrace() // the command belongs to the next request
	s.asked = time.Now()
	return s.Flush() == nil
}

// usesAhead reports whether a request can use the data port that was requested
// ahead.
func (d *driver) usesAhead(s *session, req *fetch.Request, p path) bool {
	here := !s.lost && slices.Equal(p.dirs, s.dirs)
	return !p.list && d.unconditional(req) && d.canPipeline(s) && here && time.Since(s.asked) < aheadTime
}

// discardAhead reads the reply to a data port request that no transfer uses.
// The session then needs several more transfers before it requests a port ahead
// again.
func (s *session) discardAhead() error {
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
