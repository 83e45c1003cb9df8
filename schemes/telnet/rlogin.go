package telnet

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/internal/base/tty"
	"github.com/anyurl/fetch/internal/wire/reservedport"
)

func (o Options) rloginPlan(req *fetch.Request) ([]scheme.Step, error) {
	local, remote, err := o.users(req)
	if err != nil {
		return nil, err
	}
	login := scheme.Step{Verb: "LOGIN", Arg: local + " " + remote + " " + o.lineType()}
	return []scheme.Step{{Verb: "CONNECT"}, login, {Verb: "SESSION"}}, nil
}

// users returns the local and remote user names for an rlogin session.
func (o Options) users(req *fetch.Request) (local, remote string, err error) {
	if req.Auth != nil {
		remote = req.Auth.User
	}
	if remote == "" {
		remote = o.LocalUser
	}
	if remote == "" {
		return "", "", fetch.Usage.Errorf("rlogin requires a user name: rlogin://USER@HOST/")
	}
	if strings.ContainsFunc(remote, unicode.IsControl) {
		return "", "", fetch.BadURL.Errorf("control character in the user name")
	}
	return cmp.Or(o.LocalUser, remote), remote, nil
}

// lineType returns the terminal type and speed in the format of BSD rlogin,
// such as "xterm/38400".
func (o Options) lineType() string { return strings.ToLower(cmp.Or(o.Terminal, "xterm")) + "/38400" }

// rlogin opens an rlogin session.
func (o Options) rlogin(
	ctx context.Context, env fetch.Env, t fetch.Target, req *fetch.Request,
) (*fetch.Response, error) {
	local, remote, err := o.users(req)
	if err != nil {
		return nil, err
	}
	if req.Op == fetch.Stat {
		return statResponse(), nil
	}
	reportTarget(t, req)
	w := new(window)
	reserved := reservedport.With(ctx, func(c *net.TCPConn) net.Conn { return withUrgent(c, w.handleUrgent) })
	netConn, err := env.Net.DialContext(reserved, "tcp", t.Address())
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { netConn.Close() })
	conn := req.Trace.Tap(netConn)
	if err = requireReservedPort(netConn); err == nil {
		err = o.login(conn, local, remote)
	}
	if !stop() && err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		netConn.Close()
		return nil, err
	}
	if o.Mode != nil {
		o.Mode(Keys)
	}
	w.setConn(conn)
	resp := o.newTerminal(ctx, netConn, req.Trace, conn, conn.Write)
	resp.Resize = w.resize
	return resp, nil
}

// A window sends the window size to an rlogin server after the server has
// requested it by urgent data, and again after each change (RFC 1282).
type window struct {
	mu         sync.Mutex
	conn       net.Conn // nil before the login is complete
	requested  bool
	cols, rows int
}

// sizeRequest is the byte of urgent data that requests the window size. Other
// urgent bytes control the flow and flushing of output, and are ignored.
const sizeRequest = 0x80

func (w *window) handleUrgent(b byte) {
	if b == sizeRequest {
		w.update(func() { w.requested = true })
	}
}

func (w *window) setConn(conn net.Conn) { w.update(func() { w.conn = conn }) }

func (w *window) resize(cols, rows int) { w.update(func() { w.cols, w.rows = cols, rows }) }

func (w *window) update(f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f()
	if !w.requested || w.conn == nil || w.cols <= 0 || w.rows <= 0 {
		return
	}
	text := []byte{0xff, 0xff, 's', 's'}
	for _, n := range []int{w.rows, w.cols, 0, 0} { // the size in pixels is unknown
		text = binary.BigEndian.AppendUint16(text, uint16(min(n, 0xffff)))
	}
	w.conn.SetWriteDeadline(time.Now().Add(sendTimeout))
	w.conn.Write(text) // the next Read reports an error
}

// login sends the user names and the terminal type to an rlogin server and
// reads the response. The server sends NUL to accept the login, or an error
// message.
func (o Options) login(conn net.Conn, local, remote string) error {
	conn.SetDeadline(time.Now().Add(sendTimeout))
	defer conn.SetDeadline(time.Time{})
	if _, err := io.WriteString(conn, "\x00"+local+"\x00"+remote+"\x00"+o.lineType()+"\x00"); err != nil {
		return err
	}
	var first [1]byte
	if _, err := io.ReadFull(conn, first[:]); err != nil {
		if errors.Is(err, io.EOF) {
			err = fetch.Connect.Errorf("server closed the connection without a response to the login")
		}
		return err
	}
	if first[0] == 0 {
		return nil
	}
	text, _ := io.ReadAll(io.LimitReader(conn, 300))
	reason, _, _ := strings.Cut(strings.TrimLeft(string(append(first[:], text...)), "\x01\r\n"), "\n")
	return fetch.Denied.Errorf("server rejected the login: %s", tty.Escape(strings.TrimSpace(reason)))
}
