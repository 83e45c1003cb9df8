package ftp

import (
	"cmp"
	"context"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/line"
	"github.com/anyurl/fetch/internal/sessions"
)

// anonymous is who logs in where nobody else was named. RFC 1738 3.2.1 wants
// the mail address of the user for a password; nobody gets to know that.
const (
	anonymous        = "anonymous"
	anonymousAddress = "fetch@"
)

// known are servers that say in their greeting who they are. They take
// commands before they have answered the last ones; of others nobody knows
// that, and RFC 959 5.4 wants one at a time.
var known = []struct {
	name   string
	telnet bool // takes two bytes 255 for one, as RFC 959 3.1 has it
}{
	{"vsFTPd", false},
	{"ProFTPD", true},
	{"Pure-FTPd", false},
}

// A login is whom a session is for.
type login struct {
	fetch.Credential
	origin fetch.Origin
}

// whoAsks is the user of a request, or the anonymous one.
func (d *driver) whoAsks(auth *fetch.Credential, origin fetch.Origin) (login, error) {
	l := login{origin: origin}
	if auth != nil {
		l.Credential = *auth
	}
	if l.User == "" {
		l.User = anonymous
	}
	if l.User == anonymous {
		l.Password = cmp.Or(l.Password, fetch.Secret(d.Anonymous), anonymousAddress)
	}
	l.Account = cmp.Or(l.Account, d.Account)
	return l, l.safe()
}

// safe refuses a login that would be more commands than one.
func (l *login) safe() error {
	return safe(l.User, l.Password.Reveal(), l.Account.Reveal())
}

// open makes a session and logs in.
func (d *driver) open(ctx context.Context, t fetch.Target, who *login, trace *fetch.Trace) (*session, error) {
	conn, err := d.env.Net.DialContext(ctx, "tcp", t.Address())
	if err != nil {
		return nil, err
	}
	s := newSession(conn, t.Host, trace)
	return sessions.Start(ctx, s, func() error { return d.enter(ctx, s, who) })
}

func (d *driver) enter(ctx context.Context, s *session, who *login) error {
	config := d.tlsConfig()
	if d.implicit {
		if err := s.Encrypt(ctx, config, s.host); err != nil {
			return err
		}
	}
	greeting, err := s.greeting()
	if err != nil {
		return err
	}
	encrypted := d.implicit
	if !d.implicit && d.wantsTLS() {
		if encrypted, err = d.startTLS(ctx, s, config); err != nil {
			return err
		}
	}
	if greeting.Code != 230 {
		if err := d.login(ctx, s, who, encrypted); err != nil {
			return err
		}
	}
	if encrypted {
		if err := d.protect(s, config); err != nil {
			return err
		}
	}
	return s.meet()
}

// greeting waits until the server is ready.
func (s *session) greeting() (line.Reply, error) {
	limit := sessions.ReplyTimeout
	for range 5 {
		r, err := s.reply(limit)
		if err != nil {
			return r, err
		}
		switch r.Code {
		case 220, 230:
			text := strings.Join(r.Lines, "\n")
			for _, k := range known {
				if strings.Contains(text, k.name) {
					s.eager, s.telnet = true, k.telnet
				}
			}
			return r, nil
		case 120:
			s.Trace().Notef("server asks to wait: %s", sentence(r))
			limit = waitTime
		case 530:
			return r, &fetch.Error{Code: r.Code, Err: fetch.TryLater.Errorf("greeting: %s", sentence(r))}
		default:
			return r, refused("greeting", r)
		}
	}
	return line.Reply{}, fetch.TryLater.Errorf("server asks to wait for ever")
}

// login gives name and password, and once more what is answered when they
// were refused.
func (d *driver) login(ctx context.Context, s *session, who *login, encrypted bool) error {
	for again := false; ; again = true {
		r, err := d.tryLogin(ctx, s, who, encrypted)
		if err != nil {
			return err
		}
		if r.Code/100 == 2 {
			return nil
		}
		if again || faultOf(r) != fetch.Auth || s.IsBroken() {
			return refused("login", r)
		}
		c, err := d.ask(ctx, fetch.Challenge{Origin: who.origin, User: who.name(), Realm: sentence(r), Rejected: who.name() != ""})
		if err != nil {
			return err
		}
		if c == nil || c.User == "" {
			return refused("login", r)
		}
		who.Credential = *c
		who.Account = cmp.Or(who.Account, d.Account)
		if err := who.safe(); err != nil {
			return err
		}
	}
}

// name is the user that somebody named.
func (l *login) name() string {
	if l.User == anonymous {
		return ""
	}
	return l.User
}

func (d *driver) ask(ctx context.Context, c fetch.Challenge) (*fetch.Credential, error) {
	if d.env.Login == nil {
		return nil, nil
	}
	return d.env.Login(ctx, c)
}

// tryLogin returns the reply that decides.
func (d *driver) tryLogin(ctx context.Context, s *session, who *login, encrypted bool) (line.Reply, error) {
	r, err := s.ask("USER", who.User)
	if err == nil && d.Alternative != "" && r.Code/100 >= 4 {
		r, err = s.ask(d.Alternative)
	}
	if err == nil && r.Code == 430 {
		// No password was asked for yet, so it is not the login that was
		// wrong: what a 4yz reply speaks of passes (RFC 959 4.2.1).
		return r, &fetch.Error{Code: r.Code, Err: fetch.TryLater.Errorf("login: %s", sentence(r))}
	}
	if err == nil && r.Code == 331 {
		if err = d.findPassword(ctx, s, who, encrypted); err != nil {
			return r, err
		}
		r, err = s.ask("PASS", who.Password.Reveal())
	}
	if err == nil && r.Code == 332 && who.Account != "" {
		r, err = s.ask("ACCT", who.Account.Reveal())
	}
	return r, err
}

// findPassword asks for the password of a user who came without.
func (d *driver) findPassword(ctx context.Context, s *session, who *login, encrypted bool) error {
	if who.Password == "" {
		c, err := d.ask(ctx, fetch.Challenge{Origin: who.origin, User: who.User})
		if err != nil {
			return err
		}
		if c != nil && (c.User == who.User || c.User == "") {
			who.Password = c.Password
			who.Account = cmp.Or(who.Account, c.Account)
		}
		if err := who.safe(); err != nil {
			return err
		}
	}
	if who.User != anonymous && who.Password != "" && !encrypted {
		s.Trace().Notef("password sent in clear text")
	}
	return nil
}

// isControl reports whether c is a control character of ASCII.
func isControl(c rune) bool { return c < ' ' || c == 0x7f }

// meet learns what the server can do and where we are.
func (s *session) meet() error {
	replies, err := s.exchange([]string{"FEAT"}, []string{"PWD"})
	if err != nil {
		return err
	}
	s.features = parseFeatures(replies[0])
	pwd := replies[1]
	if pwd.Code == 257 && strings.Contains(pwd.Lines[0], `"`) {
		home, ok := parseQuoted(pwd.Lines[0])
		if !ok {
			return fetch.Protocol.Errorf("PWD: no quoted name: %s", sentence(pwd))
		}
		if strings.ContainsFunc(home, isControl) {
			return fetch.Protocol.Errorf("PWD: control character in the name: %s", sentence(pwd))
		}
		if len(home) <= 400 {
			s.home = home
		}
	}
	if s.features.has("UTF8") {
		// RFC 2640 needs no such command; IIS and Serv-U do.
		if _, err := s.ask("OPTS", "UTF8", "ON"); err != nil {
			return err
		}
	}
	return nil
}
