package ftp

import (
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/wire/line"
	"github.com/anyurl/fetch/schemes/internal/sessions"
)

// After several files in a row, the driver requests the next data port as soon
// as the data of a file has ended. The server opens the port while the client
// processes the file, which saves one round trip per file.

const (
	manyFiles = 3               // after so many transfers, another one is likely
	portTime  = 2 * time.Second // after this time the port is not used, because the server may have closed it
)

// A nextPort is the data port of the next transfer.
type nextPort struct {
	state     portState
	requested time.Time  // when the port was requested early
	reply     line.Reply // the reply, in the state portAnswered
}

// A portState records whether the next data port was requested early, before the
// request that uses it.
type portState uint8

const (
	portUnknown   portState = iota // the port was not requested early
	portRequested                  // the next reply of the server belongs to the early command
	portAnswered                   // the reply was read while the session was idle
)

// requestedEarly reports whether the next reply belongs to requestPort.
func (p *nextPort) requestedEarly() bool { return p.state != portUnknown }

// awaitReply reads the reply to requestPort before it is used.
func (p *nextPort) awaitReply(lines *line.Reader) (err error) {
	p.reply, err = lines.ReadReply()
	p.state = portAnswered
	return err
}

// readReply returns the next reply of the server.
func (p *nextPort) readReply(lines *line.Reader) (line.Reply, error) {
	if p.state == portAnswered {
		p.state = portRequested
		return p.reply, nil
	}
	return lines.ReadReply()
}

// requestPort requests the next data port before the final reply of the current
// transfer is read, and reports whether it sent the request. After the final
// reply, the caller sets the state portRequested. All data must have been read
// before the call, because some servers abort a transfer when a command arrives.
// A write error is ignored, because the final reply may have arrived already.
func (s *session) requestPort() bool {
	if s.transfers < manyFiles || s.queue(s.ways[0]) != nil {
		return false
	}
	s.ClearTrace() // the command belongs to the next request
	s.port.requested = time.Now()
	return s.Flush() == nil
}

// usesPort reports whether a request can use the data port that was requested
// early.
func (d *driver) usesPort(s *session, req *fetch.Request, p path) bool {
	return !p.list && d.unconditional(req) && d.canPipeline(s) && s.dir.is(p.dirs) && time.Since(s.port.requested) < portTime
}

// discardPort reads the reply to requestPort if no transfer uses the port. The
// session then requests no port early until several more files have been
// transferred.
func (s *session) discardPort() error {
	s.transfers = 1
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
