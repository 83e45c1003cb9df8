package nntp

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/base64"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/override"
	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/internal/wire/line"
	"github.com/anyurl/fetch/internal/wire/socket"
	"github.com/anyurl/fetch/schemes/internal/sessions"
)

// open reads the greeting, starts TLS if required, and authenticates with auth
// unless auth is nil.
func (d *driver) open(ctx context.Context, s *session, auth *fetch.Credential) error {
	socket.SetQuickAck(s.NetConn) // INN sends the status line and the article in separate writes
	if err := s.readGreeting(); err != nil {
		return err
	}
	if s.TLS == nil && sessions.StartsTLS(d.TLS, scheme.TLSNever, s.caps.has("STARTTLS")) {
		if err := s.startTLS(ctx, d.env.TLS); err != nil {
			return err
		}
	}
	if auth == nil {
		return nil
	}
	return d.login(ctx, s, auth)
}

// login authenticates s with AUTHINFO (RFC 4643). If the server rejects the
// credentials, login prompts for other credentials and tries once more.
func (d *driver) login(ctx context.Context, s *session, auth *fetch.Credential) error {
	if err := d.protectPassword(ctx, s); err != nil {
		return err
	}
	user := auth.User
	for retry := false; ; retry = true {
		r, err := d.tryLogin(ctx, s, auth)
		switch {
		case err != nil:
			return err
		case r.Code/100 == 2:
			s.loggedIn, s.fields = true, nil
			return s.requestCapabilities() // capabilities may change after a login
		case retry || r.Code != 481 || s.IsBroken():
			return loginError(r)
		}
		c := fetch.Challenge{Origin: s.endpoint.Origin(), User: user, Realm: r.Lines[0], Rejected: true}
		if auth, err = sessions.Ask(ctx, d.env.Login, c); err != nil || auth == nil {
			return cmp.Or(err, loginError(r))
		}
	}
}

// loginError returns the error for a rejected login.
func loginError(r line.Reply) error {
	err := statusError("AUTHINFO", r)
	if r.Code == 502 {
		err = &fetch.Error{Code: r.Code, Err: fetch.Auth.With(err)}
	}
	return err
}

// protectPassword starts TLS before a login if possible. It returns an error if
// the password would be sent in plaintext and [Options].ClearPassword is false.
func (d *driver) protectPassword(ctx context.Context, s *session) error {
	if s.TLS != nil {
		return nil
	}
	if sessions.StartsTLS(d.TLS, scheme.TLSWanted, s.caps.has("STARTTLS")) {
		return s.startTLS(ctx, d.env.TLS)
	}
	if !d.ClearPassword {
		err := fetch.Auth.Errorf(
			"server requires a password, but the connection has no TLS and passwords in plaintext are not allowed",
		)
		return override.With(err, override.Setting{Kind: OverrideClearPassword})
	}
	s.Trace().Notef("the password was sent in plaintext")
	return nil
}

// tryLogin sends the credentials and returns the final reply. It prefers
// AUTHINFO USER. It uses SASL PLAIN if AUTHINFO USER is not supported or if the
// user name or the password contains a space.
func (d *driver) tryLogin(ctx context.Context, s *session, auth *fetch.Credential) (line.Reply, error) {
	auth, err := sessions.FindPassword(ctx, d.env.Login, auth, fetch.Challenge{Origin: s.endpoint.Origin()})
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
		return s.readReply()
	}
	if err := s.AddCommand("AUTHINFO", "USER", auth.User); err != nil {
		return line.Reply{}, fetch.Usage.Errorf("user name cannot be sent: %w", err)
	}
	r, err := s.readReply()
	if err != nil || r.Code != 381 {
		return r, err
	}
	if err := s.AddSecretCommand("AUTHINFO", "PASS", password); err != nil {
		return r, err
	}
	return s.readReply()
}

// startTLS sends STARTTLS (RFC 4642 2.2) and upgrades the connection. It
// discards the capabilities that the server sent in plaintext.
func (s *session) startTLS(ctx context.Context, base *tls.Config) error {
	r, err := s.command("STARTTLS")
	if err != nil {
		return err
	}
	if r.Code != 382 {
		return &fetch.Error{Code: r.Code, Err: fetch.TLS.With(statusError("STARTTLS", r))}
	}
	if err := s.Encrypt(ctx, base, s.endpoint.Host); err != nil {
		return err
	}
	return s.requestCapabilities()
}
