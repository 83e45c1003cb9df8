package ftp

import (
	"bytes"
	"context"
	"io"
	"net"
)

// A listsAll is the state of the option -a of LIST in a session. The option is
// not part of a standard: some servers take it as the name of a file, and others
// ignore it.
type listsAll uint8

const (
	listsAllFails   listsAll = iota // the option was rejected or is not needed
	listsAllUntried                 // no listing has shown yet that the server supports the option
	listsAllWorks
)

// maxCompared is the size up to which a listing of LIST -a is compared with that
// of LIST. A larger one does not describe a file named "-a".
const maxCompared = 64 << 10

// hasDotEntry reports whether a listing of ls -a has the entry ".".
func hasDotEntry(list []byte) bool {
	for l := range bytes.SplitSeq(list, []byte{'\n'}) {
		if bytes.HasSuffix(bytes.TrimSuffix(l, []byte{'\r'}), []byte(" .")) {
			return true
		}
	}
	return false
}

// isAll reports whether a listing command has the option -a.
func isAll(command []string) bool { return len(command) > 1 && command[1] == "-a" }

// compareLists reads the first listing with the option -a of a session. A
// listing with the entry "." shows that the server supports the option.
// Otherwise, compareLists requests the listing without the option, and returns
// the longer one.
func (d *driver) compareLists(ctx context.Context, s *session, t *transfer, plain func() (*transfer, error)) (*transfer, error) {
	all, ended, err := d.readStart(ctx, s, t, maxCompared)
	if err != nil {
		return nil, err
	}
	if !ended || hasDotEntry(all) {
		s.server.listsAll = listsAllWorks
		t.Conn = &unreadConn{t.Conn, all, ended}
		return t, nil
	}
	if t.reply.Code/100 != 2 {
		all = nil
	}
	t, err = plain()
	if err != nil {
		return nil, err
	}
	start, ended, err := d.readStart(ctx, s, t, len(all)+1)
	switch {
	case err != nil:
		return nil, err
	case !ended:
		s.server.listsAll = listsAllFails
		all = start
	case len(all) > len(start) || len(all) > 0 && !bytes.Contains(all, []byte(" -a")):
		s.server.listsAll = listsAllWorks
	}
	t.Conn = &unreadConn{t.Conn, all, ended}
	return t, nil
}

// readStart reads at most limit bytes of a listing. If the listing ends before,
// it also reads the final reply, and returns ended = true.
func (d *driver) readStart(ctx context.Context, s *session, t *transfer, limit int) (start []byte, ended bool, err error) {
	defer context.AfterFunc(ctx, func() { netConn(t.Conn).Close() })()
	limited := d.env.Limit(&dataBody{t.Conn})
	start, err = io.ReadAll(io.LimitReader(limited, int64(limit)))
	if err == nil && len(start) == limit {
		return start, false, nil
	}
	if err != nil && !isEnd(err, s) {
		t.Close()
		s.Break()
		return nil, false, cutShort(err)
	}
	t.Close()
	if t.reply.Code/100 == 1 {
		if t.reply, err = s.reply(lastReply); err != nil {
			return nil, false, cutShort(err)
		}
	}
	return start, true, nil
}

// A dataBody is a data connection that the driver reads before it returns a
// response. Close interrupts a concurrent Read.
type dataBody struct{ net.Conn }

// Close closes the TCP connection, because a close_notify could block.
func (b *dataBody) Close() error { return netConn(b.Conn).Close() }

// An unreadConn is a data connection of which some bytes are read again.
type unreadConn struct {
	net.Conn
	unread []byte
	ended  bool // no bytes follow
}

func (c *unreadConn) Read(p []byte) (int, error) {
	if len(c.unread) > 0 {
		n := copy(p, c.unread)
		c.unread = c.unread[n:]
		return n, nil
	}
	if c.ended {
		return 0, io.EOF
	}
	return c.Conn.Read(p)
}
