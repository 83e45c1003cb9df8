package ftp

import (
	"slices"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/internal/sessions"
)

// After several files in a row, the driver requests the next data port as soon
// as the data of a file has ended. The server opens the port while the client
// processes the file, which saves one round trip per file.

const (
	manyFiles = 3               // after so many transfers, another one is likely
	aheadTime = 2 * time.Second // after this time the port is not used, because the server may have closed it
)

// askAhead requests the next data port before the final reply of the current
// transfer is read, and reports whether it sent the request. All data must have
// been read before the call, because some servers abort a transfer when a
// command arrives. A write error is ignored, because the final reply may have
// arrived already.
func (s *session) askAhead() bool {
	if s.opened < manyFiles || s.queue(s.ways[0]) != nil {
		return false
	}
	s.ClearTrace() // the command belongs to the next request
	s.asked = time.Now()
	return s.Flush() == nil
}

// usesAhead reports whether a request can use the data port that askAhead has
// requested.
func (d *driver) usesAhead(s *session, req *fetch.Request, p path) bool {
	here := !s.lost && slices.Equal(p.dirs, s.dirs)
	return !p.list && d.unconditional(req) && d.canPipeline(s) && here && time.Since(s.asked) < aheadTime
}

// discardAhead reads the reply to the port request of askAhead if no transfer
// uses the port. The session then requests no port early until several more
// files have been transferred.
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
