package nfs

import (
	"errors"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/wire/oncrpc"
	"github.com/anyurl/fetch/schemes/internal/sessions"
)

// The programs that the driver calls.
var (
	portmapProgram = program{100000, 2}
	nfsProgram     = program{100003, 3}
	mountProgram   = program{100005, 3}
)

// A program is the number and the version of an RPC program.
type program struct{ number, version uint32 }

// maxRecord is the maximum size in bytes of a reply that contains no file data.
const maxRecord = 256 << 10

const replyTime = time.Minute

// A session is a connection to a server, with the directories that it has
// mounted.
type session struct {
	*sessions.Messages
	user User
	xid  uint32
	out  []byte
	buf  []byte

	public   bool              // the server has a public file handle
	probed   bool              // the value of public has been determined
	exports  []string          // nil: not yet known
	mounted  map[string]handle // by exported directory
	transfer int               // bytes of a READ; 0: not yet known
}

func newSession(c *sessions.Conn, user User) *session {
	m := sessions.NewMessages(c, 64<<10, replyTime, wireFault)
	return &session{Messages: m, user: user, xid: uint32(time.Now().UnixNano()), mounted: map[string]handle{}}
}

// call sends a call and returns the results.
func (s *session) call(p program, procedure uint32, args []byte) (*oncrpc.Decoder, error) {
	xid := s.queue(p, procedure, args)
	if err := s.flush(); err != nil {
		return nil, err
	}
	err := s.Receive(func() (err error) {
		if s.buf, err = oncrpc.ReadRecord(s.In, s.buf, maxRecord); err == nil {
			err = s.isReply(s.buf, xid)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	d, err := oncrpc.ParseReply(s.buf)
	var rejected *oncrpc.Rejection
	if err != nil && !errors.As(err, &rejected) {
		s.Break()
	}
	return d, wireFault(err)
}

func (s *session) isReply(record []byte, xid uint32) error {
	got, err := oncrpc.XIDOf(record)
	if err == nil && got != xid {
		err = fetch.Protocol.Errorf("server replied to call %d instead of %d", got, xid)
	}
	return err
}

// queue adds a call to the calls that flush sends. It returns the identifier of
// the call.
func (s *session) queue(p program, procedure uint32, args []byte) uint32 {
	s.xid++
	c := oncrpc.Call{XID: s.xid, Program: p.number, Version: p.version, Procedure: procedure, UID: s.user.UID, GID: s.user.GID}
	s.out = c.Append(s.out, args)
	return s.xid
}

// flush sends the queued calls.
func (s *session) flush() error {
	defer func() { s.out = s.out[:0] }()
	return s.SendMessage(s.out, s.out)
}

// results calls an NFS procedure whose results begin with a status.
func (s *session) results(procedure uint32, args []byte) (*oncrpc.Decoder, error) {
	d, err := s.call(nfsProgram, procedure, args)
	if err != nil {
		return nil, err
	}
	return d, s.status(d)
}

// status decodes a status. It returns the error for a status that is not zero.
func (s *session) status(d *oncrpc.Decoder) error {
	code := d.Uint32()
	if err := s.check(d); err != nil {
		return err
	}
	if code != 0 {
		return newStatusError(code)
	}
	return nil
}

// check returns the error of a Decoder. If the error is not nil, check marks the
// session as broken.
func (s *session) check(d *oncrpc.Decoder) error { return s.Failed(d.Err()) }
