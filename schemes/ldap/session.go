package ldap

import (
	"context"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/internal/wire/ber"
	"github.com/anyurl/fetch/schemes/internal/sessions"
)

// A session is a connection to a server. It sends the next request only after
// it has read the last response to the previous one.
type session struct {
	*sessions.Messages
	id  int64  // number of the last request
	buf []byte // the last message; nil while the session is idle
}

// goodbye is the message that ends a session.
var goodbye = string(encode(1<<30, ber.Primitive(ber.Application, opUnbind, nil), nil))

func newSession(c *sessions.Conn) *session {
	return &session{Messages: sessions.NewMessages(c, 4<<10, replyTime, wireFault)}
}

const replyTime = 2 * time.Minute

// send sends an operation. The parameter shown is the operation as it appears
// in the trace.
func (s *session) send(op, shown, controls []byte) error {
	s.id++
	return s.SendMessage(encode(s.id, op, controls), encode(s.id, shown, controls))
}

// Release implements [sessions.Session].
func (s *session) Release() bool {
	s.buf = nil
	return s.Messages.Release()
}

// receive reads the next response to the last request. It is valid until the next
// call. Intermediate responses are skipped, and do not extend the time limit.
func (s *session) receive() (m message, err error) {
	err = s.Receive(func() error {
		for {
			var err error
			if s.buf, err = ber.Read(s.In, s.buf, maxMessage); err == nil {
				m, err = parseMessage(s.buf)
			}
			if err != nil || m.id != s.id || m.op.Tag != opIntermediate {
				return err
			}
		}
	})
	if err == nil && m.id != s.id {
		s.Break()
		err = s.unexpected(m)
	}
	return m, err
}

// unexpected returns the error for a message that is not a response to the last
// request.
func (s *session) unexpected(m message) error {
	if m.id != 0 || m.op.Tag != opExtended {
		return fetch.Protocol.Errorf("server sent message %d, which is not a response to message %d", m.id, s.id)
	}
	r, err := parseResult(m.op) // notice of disconnection
	if err != nil {
		return wireFault(err)
	}
	return fetch.TryLater.Errorf("server closed the session: %w", r.fault())
}

// result reads the result of a request.
func (s *session) result(tag uint32) (r result, err error) {
	m, err := s.receive()
	if err != nil {
		return r, err
	}
	if m.op.Tag != tag {
		s.Break()
		return r, fetch.Protocol.Errorf("server sent operation %d instead of %d", m.op.Tag, tag)
	}
	r, err = parseResult(m.op)
	return r, s.Failed(err)
}

// startTLS encrypts the connection (RFC 4511 4.14). If the server does not
// support TLS, the session continues without it, unless mode requires TLS.
func (s *session) startTLS(ctx context.Context, env fetch.Env, host string, mode scheme.TLSMode) error {
	op := operation(opExtendedRequest, ber.String(0, startTLSName))
	if err := s.send(op, op, nil); err != nil {
		return err
	}
	r, err := s.result(opExtended)
	switch {
	case err != nil:
		return err
	case r.code == 0:
		return s.Encrypt(ctx, env.TLS, host, s.In.Buffered())
	case mode == scheme.TLSRequired:
		return fetch.TLS.Errorf("server rejected StartTLS: %w", r.fault())
	}
	s.Trace().Notef("the connection is not encrypted: %v", r.fault())
	return nil
}

// bind authenticates the user with a name and a password (simple bind).
func (s *session) bind(auth *fetch.Credential) error {
	if err := s.send(bindRequest(auth.User, auth.Password.Reveal()), bindRequest(auth.User, "***"), nil); err != nil {
		return err
	}
	r, err := s.result(opBindResponse)
	if err == nil && r.code != 0 {
		err = r.fault()
	}
	return err
}
