package smb

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"github.com/cloudsoda/go-smb2"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/trace"
	"github.com/anyurl/fetch/internal/base/tty"
	"github.com/anyurl/fetch/schemes/internal/sessions"
)

// A session is a connection to a server after the login, and a share on it.
type session struct {
	*sessions.Conn
	guard     *guard
	ctx       context.Context // of all calls of the library; it ends with the connection
	cancel    context.CancelFunc
	limit     *time.Timer // for the time of a call
	expired   atomic.Bool // the time is over
	anonymous bool
	smb       *smb2.Session
	share     *smb2.Share // nil for the list of shares
}

func newSession(c *sessions.Conn) *session {
	fetch.SetIdleTimeout(c.NetConn, 0) // the library reads all the time; the timer limits each call
	s := &session{Conn: c, guard: &guard{Conn: c.NetConn}}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.limit = time.AfterFunc(sessions.ReplyTimeout, func() {
		s.expired.Store(true)
		s.Abort()
	})
	s.limit.Stop()
	return s
}

// Claim implements [sessions.Session].
func (s *session) Claim(t *trace.Trace) bool { return s.Conn.Claim(t) && !s.guard.failed() }

// Close implements [sessions.Session].
func (s *session) Close() error {
	s.cancel()
	return s.Conn.Close()
}

// Abort implements [sessions.Session].
func (s *session) Abort() {
	s.cancel()
	s.Conn.Abort()
}

// call calls a function of the library, whose time is limited. The trace shows the call as a command and its argument.
//
// The library panics after some messages, for example if the server demands
// encryption in a login without keys. The panic becomes an error.
func (s *session) call(m mode, verb, arg string, f func() error) (err error) {
	s.traceSent(verb, arg)
	s.guard.start(m)
	s.limit.Reset(m.timeout())
	defer func() {
		s.limit.Stop()
		if r := recover(); r != nil {
			err = &smb2.InvalidResponseError{Message: fmt.Sprint("message that the library cannot read: ", r)}
		}
		err = s.fault(err, s.guard.stop())
		if text := "OK"; s.isReplied(err) {
			s.MarkAnswered()
			if err != nil {
				text = err.Error()
			}
			s.ReportRead([]byte(verb + " " + tty.Escape(text) + "\r\n"))
		}
	}()
	return f()
}

// isReplied reports whether the server has replied to a call with the given
// error.
func (s *session) isReplied(err error) bool { return err == nil || !s.IsBroken() }

// traceSent reports a command to the trace, as a line of text.
func (s *session) traceSent(verb, arg string) {
	if t := s.Trace(); t != nil && t.Sent != nil {
		t.Sent([]byte(strings.TrimSpace(verb+" "+tty.Escape(arg)) + "\r\n"))
	}
}

// login logs in, and connects to a share unless its name is "".
func (s *session) login(host, share string, auth *fetch.Credential) error {
	who := initiator(host, auth)
	s.anonymous = who.User == ""
	guest := s.anonymous || strings.EqualFold(who.User, "guest")
	dialer := smb2.Dialer{Initiator: who}
	err := s.call(loggingIn, "SESSION_SETUP", who.User, func() (err error) {
		if s.smb, err = dialer.DialConn(s.ctx, s.guard, unc(host)); err == nil {
			s.guard.finish(who.SessionKey())
		}
		return err
	})
	if err != nil {
		return s.loginFault(err, who.User)
	}
	if s.guard.lastSetup().flags&(isGuest|isNull) != 0 && !guest {
		s.Break()
		return sessions.NeedLogin(fetch.Auth, fetch.Auth.Errorf("the server does not know %s, and logged in a guest instead", who.User))
	}
	s.Trace().Reached(trace.FirstByte, s.NetConn)
	version := s.guard.negotiated()
	s.Trace().Detailf("SMB %d.%d.%d", version>>8, version>>4&15, version&15)
	s.smb = s.smb.WithContext(s.ctx)
	if share == "" {
		return nil
	}
	return s.call(calling, "TREE_CONNECT", share, func() error {
		found, err := s.smb.Mount(`\\` + unc(host) + `\` + share)
		if err == nil {
			s.share = found.WithContext(s.ctx)
		}
		return err
	})
}

// initiator returns the login with a credential, which may be nil. The domain
// precedes the name of the user.
func initiator(host string, auth *fetch.Credential) *smb2.NTLMInitiator {
	login := &smb2.NTLMInitiator{TargetSPN: "cifs/" + host}
	if auth == nil {
		return login
	}
	login.User, login.Password = auth.User, auth.Password.Reveal()
	if i := strings.IndexAny(login.User, `;\`); i >= 0 {
		login.Domain, login.User = login.User[:i], login.User[i+1:]
	}
	return login
}

// unc returns a host as it appears in the name of a share. An IPv6 address has
// the form of Windows, without colons.
func unc(host string) string {
	host = strings.Trim(host, "[]")
	if strings.Contains(host, ":") {
		return strings.NewReplacer(":", "-", "%", "s").Replace(host) + ".ipv6-literal.net"
	}
	return host
}

// open opens a file or a directory for reading. If the server reports a symbolic
// link, the guard ends the connection, because the library would follow it.
func (s *session) open(path string) (file *smb2.File, info *smb2.FileStat, err error) {
	err = s.call(opening, "CREATE", path, func() (err error) {
		file, err = s.share.Open(path)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	runtime.SetFinalizer(file, nil) // it would close the file while another request uses the session
	err = s.call(calling, "QUERY_INFO", "", func() error {
		found, err := file.Stat()
		if err == nil {
			info = found.Sys().(*smb2.FileStat)
		}
		return err
	})
	if err != nil {
		s.Break() // the file is open
		return nil, nil, err
	}
	return file, info, nil
}

// close closes a file. If the server is silent, the session is closed soon: the
// request has its object already.
func (s *session) close(file *smb2.File) error { return s.call(closing, "CLOSE", "", file.Close) }
