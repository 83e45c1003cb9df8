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
	"github.com/anyurl/fetch/internal/tty"
)

func (o Options) rloginPlan(req *fetch.Request) ([]fetch.Step, error) {
	local, remote, err := o.users(req)
	if err != nil {
		return nil, err
	}
	return []fetch.Step{{Verb: "CONNECT"}, {Verb: "LOGIN", Arg: local + " " + remote + " " + o.lineType()}, {Verb: "SESSION"}}, nil
}

// users are who asks and who is asked for.
func (o Options) users(req *fetch.Request) (local, remote string, err error) {
	if req.Auth != nil {
		remote = req.Auth.User
	}
	if remote == "" {
		remote = o.LocalUser
	}
	if remote == "" {
		return "", "", fetch.Usage.Errorf("rlogin needs a user: rlogin://USER@HOST/")
	}
	if strings.ContainsFunc(remote, unicode.IsControl) {
		return "", "", fetch.BadURL.Errorf("control character in the user")
	}
	return cmp.Or(o.LocalUser, remote), remote, nil
}

// lineType is the terminal and its speed, as BSD has them.
func (o Options) lineType() string { return strings.ToLower(cmp.Or(o.Terminal, "xterm")) + "/38400" }

// rlogin opens a session of rlogin.
func (o Options) rlogin(ctx context.Context, env fetch.Env, t fetch.Target, req *fetch.Request) (*fetch.Response, error) {
	local, remote, err := o.users(req)
	if err != nil {
		return nil, err
	}
	if req.Op == fetch.Stat {
		return nobody(), nil
	}
	announce(t, req)
	w := new(window)
	reserved := fetch.Reserved(ctx, func(c *net.TCPConn) net.Conn { return withUrgent(c, w.asked) })
	door, err := env.Net.DialContext(reserved, "tcp", t.Address())
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { door.Close() })
	conn := req.Trace.Tap(door)
	if err = isReserved(door); err == nil {
		err = o.introduce(conn, local, remote)
	}
	if !stop() && err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		door.Close()
		return nil, err
	}
	if o.Mode != nil {
		o.Mode(Keys)
	}
	w.open(conn)
	resp := o.join(ctx, door, req.Trace, conn, conn.Write)
	resp.Resize = w.resize
	return resp, nil
}

// A window tells a peer its size, once the peer has asked for it by urgent
// data, and whenever it changes (RFC 1282).
type window struct {
	mu         sync.Mutex
	conn       net.Conn // nil: nothing may be sent yet
	wanted     bool
	cols, rows int
}

// wantsSize is the byte by which a peer asks. The others are about flow control
// and what is not yet shown, and of no use to us.
const wantsSize = 0x80

func (w *window) asked(b byte) {
	if b == wantsSize {
		w.change(func() { w.wanted = true })
	}
}

func (w *window) open(conn net.Conn) { w.change(func() { w.conn = conn }) }

func (w *window) resize(cols, rows int) { w.change(func() { w.cols, w.rows = cols, rows }) }

func (w *window) change(f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f()
	if !w.wanted || w.conn == nil || w.cols <= 0 || w.rows <= 0 {
		return
	}
	text := []byte{0xff, 0xff, 's', 's'}
	for _, n := range []int{w.rows, w.cols, 0, 0} { // and pixels, which nobody knows
		text = binary.BigEndian.AppendUint16(text, uint16(min(n, 0xffff)))
	}
	w.conn.SetWriteDeadline(time.Now().Add(sendTime))
	w.conn.Write(text) // or the next Read tells that nobody hears
}

// introduce says who we are and reads whether that is well: one NUL, or a line
// that says why not.
func (o Options) introduce(conn net.Conn, local, remote string) error {
	conn.SetDeadline(time.Now().Add(sendTime))
	defer conn.SetDeadline(time.Time{})
	if _, err := io.WriteString(conn, "\x00"+local+"\x00"+remote+"\x00"+o.lineType()+"\x00"); err != nil {
		return err
	}
	var first [1]byte
	if _, err := io.ReadFull(conn, first[:]); err != nil {
		if errors.Is(err, io.EOF) {
			err = fetch.Connect.Errorf("server hung up without a word")
		}
		return err
	}
	if first[0] == 0 {
		return nil
	}
	text, _ := io.ReadAll(io.LimitReader(conn, 300))
	reason, _, _ := strings.Cut(strings.TrimLeft(string(append(first[:], text...)), "\x01\r\n"), "\n")
	return fetch.Denied.Errorf("server refused: %s", tty.Escape(strings.TrimSpace(reason)))
}
