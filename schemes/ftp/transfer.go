package ftp

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/line"
	"github.com/anyurl/fetch/internal/sessions"
)

// acceptTime is how long the server may take to connect to us after it said
// that it would.
const acceptTime = 15 * time.Second

// unknown says that the server refused a command that opens a data
// connection.
type unknown struct {
	verb  string
	reply line.Reply
}

func (e *unknown) Error() string { return e.verb + ": " + sentence(e.reply) }

// ways are the commands that may open a data connection, in the order in
// which they are tried. What failed once is not tried again in a session.
type ways []string

// waysFor is by RFC 2428: PASV and PORT cannot say an IPv6 address. Behind a
// proxy nobody knows which it is, and PASV is left for the server to refuse.
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

// A transfer is a data connection on which the server is sending.
type transfer struct {
	net.Conn
	reply line.Reply    // to the command: 1xx, or 2xx where all is sent already
	skip  int64         // bytes that come before the first that is wanted
	left  int64         // bytes that are wanted; -1: all
	text  *bufio.Reader // of Conn, where it is read as a text
	whole bool          // another like it may follow
	list  bool          // of a listing
}

// An order is what the server is to send.
type order struct {
	command []string
	first   int64 // byte that is wanted
	atOnce  bool  // nothing waits for a reply, where the server takes that

	questions [][]string // what is asked or set on the way, before command
	facts     *facts     // learn the replies
}

// transfer has the server carry out o. The error of a refused command has its
// code.
func (d *driver) transfer(ctx context.Context, s *session, o order) (*transfer, error) {
	if s.ways == nil {
		s.ways = d.waysFor(s)
	}
	if d.PRET {
		r, err := s.ask("PRET", o.command...)
		if err != nil {
			return nil, err
		}
		if r.Code/100 != 2 {
			return nil, &fetch.Error{Code: r.Code, Err: fetch.Unsupported.Errorf("PRET: %s", sentence(r))}
		}
	}
	o.atOnce = o.atOnce && s.eager && s.opened > 0
	for {
		try := d.tryPassive
		if d.Active != "" {
			try = d.tryActive
		}
		t, err := try(ctx, s, o)
		if err == nil {
			err = s.encryptData(ctx, t)
		}
		if err == nil {
			s.opened++
			return t, nil
		}
		var u *unknown
		no := errors.As(err, &u)
		switch {
		case !no && !failed(err):
			return nil, err
		case len(s.ways) > 1 && !s.IsBroken():
			if !no {
				s.Trace().Notef("no data connection by %s: %v", s.ways[0], err)
			}
			s.ways = slices.Clone(s.ways[1:])
			continue
		}
		s.Break() // another session may know ways again
		if no {
			err = refused(u.verb, u.reply)
		}
		return nil, err
	}
}

// failed reports whether another way to open a data connection may fare
// better after err.
func failed(err error) bool {
	var e *fetch.Error
	if errors.As(err, &e) {
		return e.Code == 425
	}
	switch fetch.FaultOf(err) {
	case fetch.Connect, fetch.Timeout, fetch.BadPort: // the next command opens another port
		return true
	}
	return false
}

// tryPassive connects to a port that the server offers. A server that gets all
// commands at once waits for the connection when it comes to the last; what we
// ask on the way costs no waiting, for we are connecting meanwhile.
func (d *driver) tryPassive(ctx context.Context, s *session, o order) (*transfer, error) {
	way := s.ways[0]
	commands := slices.Concat([][]string{{way}}, o.questions, s.sending(o))
	send := commands
	if s.ahead {
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
	t := &transfer{Conn: conn, left: -1}
	if err = s.learn(o.facts, o.questions, next); err == nil {
		t.reply, t.skip, err = s.start(next, o.first, o.command[0])
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return t, nil
}

// sending are the commands that have o sent.
func (s *session) sending(o order) [][]string {
	if o.first > 0 && !s.noREST {
		return [][]string{{"REST", strconv.FormatInt(o.first, 10)}, o.command}
	}
	return [][]string{o.command}
}

// notOpened is the error where no data connection came about for commands that
// were sent already. A server that refused the last of them may have shut the
// port because of that, and says so; any other waits for us.
func (s *session) notOpened(err error, o order, commands [][]string) error {
	if !s.IsBroken() && fetch.FaultOf(err) == fetch.Connect {
		for i, c := range commands {
			r, e := s.reply(lateReply)
			switch {
			case e == nil && i < len(o.questions):
				s.answer(o.facts, c, r)
			case e == nil && i == len(commands)-1 && r.Code >= 400:
				return refused(c[0], r)
			}
		}
	}
	s.Break()
	if len(s.ways) > 1 && failed(err) {
		s.Trace().Notef("no data connection by %s: %v: a new session tries again", s.ways[0], err)
		return sessions.ErrStale
	}
	return err
}

// start reads the replies to REST, where it was sent, and to the command that
// sends data. Where REST is refused everything comes, and what nobody wants is
// skipped.
func (s *session) start(next func() (line.Reply, error), first int64, verb string) (r line.Reply, skip int64, err error) {
	if first > 0 && !s.noREST {
		if r, err = next(); err != nil {
			return r, 0, err
		}
		if r.Code/100 < 3 {
			s.Break() // nobody knows where it would begin
			return r, 0, refused("REST", r)
		}
		s.noREST = r.Code/100 != 3
	}
	if first > 0 && s.noREST {
		s.Trace().Notef("server cannot begin within a file: %d bytes are skipped", first)
		skip = first
	}
	s.Trace().Reached(fetch.RequestSent, s.NetConn)
	if r, err = next(); err == nil {
		s.Trace().Reached(fetch.FirstByte, s.NetConn)
	}
	if err == nil && (r.Code/100 > 2 || s.IsBroken()) {
		err = refused(verb, r)
	}
	return r, skip, err
}

// tryActive has the server connect to us.
func (d *driver) tryActive(ctx context.Context, s *session, o order) (*transfer, error) {
	l, err := d.listen(ctx, s, s.ways[0])
	if err != nil {
		return nil, err
	}
	defer l.Close()
	t := &transfer{left: -1}
	if t.reply, t.skip, err = s.start(s.next(false, s.sending(o)), o.first, o.command[0]); err != nil {
		return nil, err
	}
	t.Conn, err = s.accept(ctx, l)
	return t, err
}

// accept waits for the connection that a 1xx promised. Where none comes the
// next reply may say why.
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
	return nil, fmt.Errorf("server did not connect: %w", err)
}

// encryptData puts TLS over a data connection. Where it fails the next reply
// may say why: vsftpd has "522 SSL connection failed: session reuse required".
func (s *session) encryptData(ctx context.Context, t *transfer) error {
	if s.data == nil {
		return nil
	}
	conn, err := fetch.Handshake(ctx, t.Conn, s.data, s.host, nil)
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
