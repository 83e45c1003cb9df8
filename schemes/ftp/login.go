package ftp

import (
	"cmp"
	"context"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/trace"
	"github.com/anyurl/fetch/internal/wire/line"
	"github.com/anyurl/fetch/schemes/internal/sessions"
	"github.com/anyurl/fetch/schemes/internal/textform"
)

// The anonymous user and the default password. RFC 1738 3.2.1 suggests the mail
// address of the user as the password, but that address would then be known to
// every server.
const (
	anonymous        = "anonymous"
	anonymousAddress = "fetch@"
)

// knownServers are servers that accept a new command before they have replied
// to earlier ones. They are identified by their greeting. Other servers get one
// command at a time, as RFC 959 5.4 requires.
var knownServers = []struct {
	name   string
	telnet bool // reads two bytes 0xff as one, as RFC 959 3.1 requires
	hides  bool // LIST omits hidden files without the option -a
}{
	{"vsFTPd", false, true},
	{"ProFTPD", true, false},
	{"Pure-FTPd", false, false},
}

// A login holds the credentials for a session and the origin of its server.
type login struct {
	fetch.Credential
	origin  fetch.Origin
	account fetch.Secret // Options.Account, or "" for the server of a link
}

// loginFor returns the user name and password for a request. Without a
// credential, it returns the anonymous user. Options.Account belongs to the servers
// of URLs that the user entered.
func (d *driver) loginFor(req *fetch.Request, origin fetch.Origin) (login, error) {
	l := login{origin: origin}
	if req.Auth != nil {
		l.Credential = *req.Auth
	}
	if req.Typed() {
		d.entered.Store(origin, true)
	}
	if _, entered := d.entered.Load(origin); entered || req.Auth != nil {
		l.account = d.Account
	}
	if l.User == "" {
		l.User = anonymous
	}
	if l.User == anonymous {
		l.Password = cmp.Or(l.Password, fetch.Secret(d.Anonymous), anonymousAddress)
	}
	l.Account = cmp.Or(l.Account, l.account)
	return l, l.safe()
}

// safe returns an error if the user name, password or account contains a line
// break or is too long for a command.
func (l *login) safe() error {
	return safe(l.User, l.Password.Reveal(), l.Account.Reveal())
}

// open connects to the server, logs in, and returns the new session.
func (d *driver) open(ctx context.Context, t fetch.Target, who *login, trace *trace.Trace) (*session, error) {
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
	if d.Hidden && !s.server.pipelines {
		s.server.listsAll = listsAllUntried
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
	return s.discover()
}

// greeting reads the greeting of the server. If the server replies with code
// 120, greeting waits for another reply.
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
			for _, k := range knownServers {
				if strings.Contains(text, k.name) {
					s.server.pipelines, s.server.telnet = true, k.telnet
					if k.hides {
						s.server.listsAll = listsAllWorks
					}
				}
			}
			return r, nil
		case 120:
			s.Trace().Notef("the server asked to wait: %s", sentence(r))
			limit = waitTime
		case 530:
			return r, &fetch.Error{Code: r.Code, Err: fetch.TryLater.Errorf("greeting: %s", sentence(r))}
		default:
			return r, refused("greeting", r)
		}
	}
	return line.Reply{}, fetch.TryLater.Errorf("the server repeatedly asked to wait")
}

// login sends the user name and the password. If the server rejects them, login
// calls Env.Login and tries once more.
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
		challenge := fetch.Challenge{Origin: who.origin, User: who.name(), Realm: sentence(r), Rejected: who.name() != ""}
		c, err := sessions.Ask(ctx, d.env.Login, challenge)
		if err != nil || c == nil || c.User == "" {
			return cmp.Or(err, refused("login", r))
		}
		who.Credential = *c
		who.Account = cmp.Or(who.Account, who.account)
		if err := who.safe(); err != nil {
			return err
		}
	}
}

// name returns the user name, or "" for the anonymous user.
func (l *login) name() string {
	if l.User == anonymous {
		return ""
	}
	return l.User
}

// tryLogin sends USER, PASS and ACCT as needed, and returns the last reply.
func (d *driver) tryLogin(ctx context.Context, s *session, who *login, encrypted bool) (line.Reply, error) {
	r, err := s.command("USER", who.User)
	if err == nil && d.Alternative != "" && r.Code/100 >= 4 {
		r, err = s.command(d.Alternative)
	}
	if err == nil && r.Code == 430 {
		// A 4yz reply before the password was requested is a transient error.
		// It does not reject the password (RFC 959 4.2.1).
		return r, &fetch.Error{Code: r.Code, Err: fetch.TryLater.Errorf("login: %s", sentence(r))}
	}
	if err == nil && r.Code == 331 {
		if err = d.findPassword(ctx, s, who, encrypted); err != nil {
			return r, err
		}
		r, err = s.command("PASS", who.Password.Reveal())
	}
	if err == nil && r.Code == 332 && who.Account != "" {
		r, err = s.command("ACCT", who.Account.Reveal())
	}
	return r, err
}

// findPassword calls Env.Login to complete a login that has no password.
func (d *driver) findPassword(ctx context.Context, s *session, who *login, encrypted bool) error {
	if who.Password == "" {
		c, err := sessions.AskFor(ctx, d.env.Login, fetch.Challenge{Origin: who.origin, User: who.User})
		if err != nil {
			return err
		}
		if c != nil {
			who.Password = c.Password
			who.Account = cmp.Or(who.Account, c.Account)
		}
		if sessions.LacksPassword(&who.Credential) && who.User != "ftp" {
			return sessions.NoPassword(who.User)
		}
		if err := who.safe(); err != nil {
			return err
		}
	}
	if who.User != anonymous && who.Password != "" && !encrypted {
		s.Trace().Notef("the password was sent in plaintext")
	}
	return nil
}

// discover requests the features of the server (FEAT) and the name of the login
// directory (PWD).
func (s *session) discover() error {
	replies, err := s.sendAll([]string{"FEAT"}, []string{"PWD"})
	if err != nil {
		return err
	}
	s.server.features = parseFeatures(replies[0])
	if s.server.features.listsFacts() {
		s.server.listsAll = listsAllFails
	}
	pwd := replies[1]
	if pwd.Code == 257 && strings.Contains(pwd.Lines[0], `"`) {
		home, ok := parseQuoted(pwd.Lines[0])
		if !ok {
			return fetch.Protocol.Errorf("PWD: no quoted name: %s", sentence(pwd))
		}
		if textform.HasControl(home) {
			return fetch.Protocol.Errorf("PWD: control character in the name: %s", sentence(pwd))
		}
		if len(home) <= 400 {
			s.dir.login = home
		}
	}
	if s.server.features.has("UTF8") {
		// RFC 2640 does not require this command, but IIS and Serv-U do.
		if _, err := s.command("OPTS", "UTF8", "ON"); err != nil {
			return err
		}
	}
	return nil
}
