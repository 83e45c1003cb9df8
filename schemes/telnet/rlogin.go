package telnet

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"time"

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
	return cmp.Or(o.LocalUser, remote), remote, nil
}

// lineType is the terminal and its speed, as BSD has them.
func (o Options) lineType() string { return strings.ToLower(cmp.Or(o.Terminal, "xterm")) + "/38400" }

// rlogin opens a session of rlogin. Its window has one size: the peer asks for
// it by urgent data, which Net does not show.
func (o Options) rlogin(ctx context.Context, env fetch.Env, t fetch.Target, req *fetch.Request) (*fetch.Response, error) {
	local, remote, err := o.users(req)
	if err != nil {
		return nil, err
	}
	if req.Op == fetch.Stat {
		return nobody(), nil
	}
	announce(t, req)
	door, err := env.Net.DialContext(ctx, "tcp", t.Address())
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
	return o.join(ctx, door, req.Trace, conn, conn.Write), nil
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
