package nntp

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/line"
	"github.com/anyurl/fetch/internal/sessions"
)

// open connects to the server of q and logs in with auth; nil is no login.
func (d *driver) open(ctx context.Context, q *query, auth *fetch.Credential) (*session, error) {
	conn, err := d.env.Net.DialContext(ctx, "tcp", q.at.Address())
	if err != nil {
		return nil, err
	}
	fetch.SetQuickAck(conn) // INN writes an article apart from the line before it
	s := newSession(conn, q.at, q.req.Trace)
	return sessions.Start(ctx, s, func() error { return d.enter(ctx, s, auth) })
}

func (d *driver) enter(ctx context.Context, s *session, auth *fetch.Credential) error {
	if s.place.implicit {
		if err := s.Encrypt(ctx, d.env.TLS, s.place.Host); err != nil {
			return err
		}
	}
	if err := s.greet(); err != nil {
		return err
	}
	if s.TLS == nil && (d.TLS == fetch.TLSRequired || d.TLS == fetch.TLSWanted && s.caps.has("STARTTLS")) {
		if err := s.startTLS(ctx, d.env.TLS); err != nil {
			return err
		}
	}
	if auth == nil {
		return nil
	}
	return d.login(ctx, s, auth)
}

// login gives name and password (RFC 4643), and once more what is answered
// when they were refused.
func (d *driver) login(ctx context.Context, s *session, auth *fetch.Credential) error {
	if err := d.protect(ctx, s); err != nil {
		return err
	}
	user := auth.User
	for again := false; ; again = true {
		r, err := d.tryLogin(ctx, s, auth)
		switch {
		case err != nil:
			return err
		case r.Code/100 == 2:
			s.loggedIn, s.fields = true, nil
			return s.askCapabilities() // the server may have more for us now
		case again || r.Code != 481 || s.IsBroken():
			return loginRefused(r)
		}
		if auth, err = d.ask(ctx, s, fetch.Challenge{User: user, Realm: r.Lines[0], Rejected: true}); err != nil {
			return err
		}
		if auth == nil {
			return loginRefused(r)
		}
	}
}

func loginRefused(r line.Reply) error {
	err := refused("AUTHINFO", r)
	if r.Code == 502 {
		err = &fetch.Error{Code: r.Code, Err: fetch.Auth.With(err)}
	}
	return err
}

// protect sees to it that a password does not go out in clear.
func (d *driver) protect(ctx context.Context, s *session) error {
	if s.TLS != nil {
		return nil
	}
	if s.caps.has("STARTTLS") && d.TLS != fetch.TLSNever {
		return s.startTLS(ctx, d.env.TLS)
	}
	if !d.ClearPassword {
		err := fetch.Auth.Errorf("server wants a password, the connection has no TLS, and plaintext is not allowed")
		return &fetch.Remedy{Err: err, Override: fetch.Override{Kind: OverrideClearPassword}}
	}
	s.Trace().Notef("password sent in clear text")
	return nil
}

// tryLogin returns the reply that decides. SASL takes what the words of
// AUTHINFO USER and PASS cannot hold: spaces.
func (d *driver) tryLogin(ctx context.Context, s *session, auth *fetch.Credential) (line.Reply, error) {
	auth, err := d.complete(ctx, s, auth)
	if err != nil {
		return line.Reply{}, err
	}
	password := auth.Password.Reveal()
	plain := s.caps.hasArg("SASL", "PLAIN") && s.caps.hasArg("AUTHINFO", "SASL")
	if plain && (!s.caps.hasArg("AUTHINFO", "USER") || strings.ContainsAny(auth.User+password, " \t")) {
		response := base64.StdEncoding.EncodeToString([]byte("\x00" + auth.User + "\x00" + password))
		if err := s.AddSecretCommand("AUTHINFO", "SASL", "PLAIN", response); err != nil {
			return line.Reply{}, err
		}
		return s.reply()
	}
	if err := s.AddCommand("AUTHINFO", "USER", auth.User); err != nil {
		return line.Reply{}, fetch.Usage.Errorf("user name cannot be sent: %w", err)
	}
	r, err := s.reply()
	if err != nil || r.Code != 381 {
		return r, err
	}
	if err := s.AddSecretCommand("AUTHINFO", "PASS", password); err != nil {
		return r, err
	}
	return s.reply()
}

// complete finds the password of a user who came without.
func (d *driver) complete(ctx context.Context, s *session, auth *fetch.Credential) (*fetch.Credential, error) {
	if auth.Password != "" {
		return auth, nil
	}
	found, err := d.ask(ctx, s, fetch.Challenge{User: auth.User})
	if err != nil || found == nil || found.User != "" && found.User != auth.User {
		return auth, err
	}
	whole := *auth
	whole.Password = found.Password
	return &whole, nil
}

// ask asks whoever knows logins for one to this server.
func (d *driver) ask(ctx context.Context, s *session, c fetch.Challenge) (*fetch.Credential, error) {
	if d.env.Login == nil {
		return nil, nil
	}
	c.Origin = s.place.Origin()
	return d.env.Login(ctx, c)
}

// startTLS asks for encryption (RFC 4642 2.2). What the server announced
// before is forgotten.
func (s *session) startTLS(ctx context.Context, base *tls.Config) error {
	r, err := s.ask("STARTTLS")
	if err != nil {
		return err
	}
	if r.Code != 382 {
		return &fetch.Error{Code: r.Code, Err: fetch.TLS.With(refused("STARTTLS", r))}
	}
	if err := s.Encrypt(ctx, base, s.place.Host); err != nil {
		return err
	}
	return s.askCapabilities()
}
