package ftp

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/trace"
	"github.com/anyurl/fetch/internal/wire/line"
	"github.com/anyurl/fetch/internal/wire/socket"
	"github.com/anyurl/fetch/schemes/internal/sessions"
)

// acceptTime is the maximum time between a 1xx reply and the server's
// connection in active mode.
const acceptTime = 15 * time.Second

// unknown is the error for an EPSV, PASV, EPRT or PORT command that the server
// rejected.
type unknown struct {
	verb  string
	reply line.Reply
}

func (e *unknown) Error() string { return e.verb + ": " + sentence(e.reply) }

// refused returns the error for the last command that could open a data
// connection. A server that supports none of these commands, such as a server
// without passive mode, has not violated the protocol.
func (e *unknown) refused() error {
	if isUnknown(e.reply.Code) {
		return &fetch.Error{Code: e.reply.Code, Err: fetch.Denied.Errorf("no command opens a data connection: %w", e)}
	}
	return refused(e.verb, e.reply)
}

// ways lists the commands that can open a data connection (EPSV, PASV, EPRT,
// PORT) in order of preference. A command that failed is not used again in the
// session.
type ways []string

// waysFor returns the commands that can open a data connection in a session.
// PASV and PORT do not support IPv6 addresses (RFC 2428). Behind a proxy the
// address family is unknown, so PASV is tried anyway.
func (d *driver) waysFor(s *session) ways {
	six := fetch.PeerOf(s.NetConn).Unmap().Is6()
	switch {
	case d.Active != "" && six:
		return ways{"EPRT"}
	case d.Active != "" && d.NoEPRT:
		return ways{"PORT"}
	case d.Active != "":
		return ways{"EPRT", "PORT"}
	case six:
		return ways{"EPSV"}
	case d.NoEPSV:
		return ways{"PASV"}
	}
	return ways{"EPSV", "PASV"}
}

// A transfer is an open data connection on which the server sends a file or a
// listing.
type transfer struct {
	net.Conn
	reply  line.Reply    // reply to the command: 1xx, or 2xx if all data was sent already
	skip   int64         // number of received bytes to discard before the requested range
	length int64         // length of the requested range; -1: up to the end of the data
	text   *bufio.Reader // buffered reader of Conn for a text transfer, or nil
	whole  bool          // the data is a complete file; another file is likely to follow
	list   bool          // the data is a listing
}

// An order describes one transfer: the transfer command, the first byte, and
// other commands to send first.
type order struct {
	command []string
	first   int64 // first byte of the requested range
	atOnce  bool  // send all commands together if the server accepts that

	questions [][]string // commands to send before the transfer command
	facts     *facts     // set from the replies to questions
}

// transfer opens a data connection and sends the transfer command. If the
// server rejects the command, the error contains the reply code.
func (d *driver) transfer(ctx context.Context, s *session, o order) (*transfer, error) {
	if s.ways == nil {
		s.ways = d.waysFor(s)
	}
	if d.PRET {
		r, err := s.command("PRET", o.command...)
		if err != nil {
			return nil, err
		}
		if r.Code/100 != 2 {
			return nil, &fetch.Error{Code: r.Code, Err: fetch.Unsupported.Errorf("PRET: %s", sentence(r))}
		}
	}
	o.atOnce = o.atOnce && s.server.pipelines && s.transfers > 0
	var lost error // the reason why a port of the server was not reached
	for {
		try := d.tryPassive
		if d.Active != "" {
			try = d.tryActive
		}
		t, err := try(ctx, s, o)
		if err == nil {
			socket.SetBlockingReads(t.Conn)
			err = s.encryptData(ctx, t)
		}
		if err == nil {
			s.transfers++
			return t, nil
		}
		var u *unknown
		no := errors.As(err, &u)
		switch {
		case !no && !failed(err):
			return nil, err
		case len(s.ways) > 1 && !s.IsBroken():
			if !no {
				lost = err
				s.Trace().Notef("%s failed to open a data connection: %v", s.ways[0], err)
			}
			s.ways = slices.Clone(s.ways[1:])
			continue
		}
		s.Break() // a new session tries all commands again
		if no {
			err = cmp.Or(lost, u.refused())
		}
		return nil, err
	}
}

// failed reports whether the data connection should be opened with another
// command after the error err.
func failed(err error) bool {
	var e *fetch.Error
	if errors.As(err, &e) {
		return e.Code == 425
	}
	switch fetch.FaultOf(err) {
	case fetch.Connect, fetch.Timeout, fetch.BadPort: // another command opens another port
		return true
	}
	return false
}

// tryPassive opens a data connection to a port of the server and starts the
// transfer. If all commands were sent together, the server waits for the
// connection at the last command, and executes the others during the connect.
func (d *driver) tryPassive(ctx context.Context, s *session, o order) (*transfer, error) {
	way := s.ways[0]
	commands := slices.Concat([][]string{{way}}, o.questions, s.sending(o))
	send := commands
	if s.port.requestedEarly() {
		s.TraceCommand(way)
		send = commands[1:]
	}
	next := s.next(o.atOnce, send)
	r, err := next()
	if err != nil {
		return nil, err
	}
	conn, err := d.connect(ctx, s, way, r)
	if err != nil && o.atOnce {
		return nil, s.notOpened(err, o, commands[1:])
	}
	if err != nil {
		return nil, err
	}
	t := &transfer{Conn: conn, length: -1}
	if err = s.readFacts(o.facts, o.questions, next); err == nil {
		t.reply, t.skip, err = s.start(next, o.first, o.command[0])
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return t, nil
}

// sending returns the commands that start a transfer: REST if it is needed, and
// the transfer command.
func (s *session) sending(o order) [][]string {
	if o.first > 0 && !s.server.rejectsREST {
		return [][]string{{"REST", strconv.FormatInt(o.first, 10)}, o.command}
	}
	return [][]string{o.command}
}

// notOpened returns the error for a data connection that failed after the
// transfer command was sent. A server that rejected the command may have closed
// the port. The reply then contains the reason. Other servers still wait for
// the connection.
func (s *session) notOpened(err error, o order, commands [][]string) error {
	if !s.IsBroken() && fetch.FaultOf(err) == fetch.Connect {
		for i, c := range commands {
			r, e := s.reply(lateReply)
			switch {
			case e == nil && i < len(o.questions):
				s.addFact(o.facts, c, r)
			case e == nil && i == len(commands)-1 && r.Code >= 400:
				return refused(c[0], r)
			}
		}
	}
	s.Break()
	if len(s.ways) > 1 && failed(err) {
		s.Trace().Notef("%s failed to open a data connection: %v: retrying in a new session", s.ways[0], err)
		return sessions.ErrStale
	}
	return err
}

// start reads the replies to REST and to the transfer command. If the server
// rejects REST, it sends the complete file, and start returns the number of
// bytes to discard.
func (s *session) start(next func() (line.Reply, error), first int64, verb string) (r line.Reply, skip int64, err error) {
	if first > 0 && !s.server.rejectsREST {
		if r, err = next(); err != nil {
			return r, 0, err
		}
		if r.Code/100 < 3 {
			s.Break() // the offset of the data is unknown
			return r, 0, refused("REST", r)
		}
		s.server.rejectsREST = r.Code/100 != 3
	}
	if first > 0 && s.server.rejectsREST {
		s.Trace().Notef("the server does not support REST: %d bytes are skipped", first)
		skip = first
	}
	s.Trace().Reached(trace.RequestSent, s.NetConn)
	if r, err = next(); err == nil {
		s.Trace().Reached(trace.FirstByte, s.NetConn)
	}
	if err == nil && (r.Code/100 > 2 || s.IsBroken()) {
		err = refused(verb, r)
	}
	return r, skip, err
}

// tryActive starts a transfer in active mode, in which the server opens the
// data connection to the client.
func (d *driver) tryActive(ctx context.Context, s *session, o order) (*transfer, error) {
	l, err := d.listen(ctx, s, s.ways[0])
	if err != nil {
		return nil, err
	}
	defer l.Close()
	t := &transfer{length: -1}
	if t.reply, t.skip, err = s.start(s.next(false, s.sending(o)), o.first, o.command[0]); err != nil {
		return nil, err
	}
	t.Conn, err = s.accept(ctx, l)
	return t, err
}

// accept waits for the server to connect, after a 1xx reply has announced the
// connection. If the server does not connect, its next reply may give the
// reason.
func (s *session) accept(ctx context.Context, l net.Listener) (net.Conn, error) {
	defer context.AfterFunc(ctx, func() { l.Close() })()
	if l, ok := l.(interface{ SetDeadline(time.Time) error }); ok {
		l.SetDeadline(time.Now().Add(acceptTime))
	}
	conn, err := l.Accept()
	if err == nil {
		return conn, nil
	}
	if r, e := s.reply(time.Second); e == nil && r.Code >= 400 {
		return nil, refused("transfer", r)
	}
	s.Break()
	return nil, fmt.Errorf("the server did not connect: %w", err)
}

// encryptData starts TLS on a data connection. If the handshake fails, the next
// reply may give the reason, such as vsftpd's "522 SSL connection failed:
// session reuse required".
func (s *session) encryptData(ctx context.Context, t *transfer) error {
	if s.dataTLS == nil {
		return nil
	}
	conn, err := fetch.Handshake(ctx, t.Conn, s.dataTLS, s.host, nil)
	if err == nil {
		t.Conn = conn
		return nil
	}
	t.Close()
	if r, e := s.reply(time.Second); e == nil && r.Code >= 400 {
		err = &fetch.Error{Code: r.Code, Err: fetch.TLS.Errorf("data connection: %s: %w", sentence(r), err)}
	}
	s.Break()
	return err
}
