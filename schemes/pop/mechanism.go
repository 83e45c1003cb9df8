package pop

import (
	"slices"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/override"
	"github.com/anyurl/fetch/internal/base/tty"
	"github.com/anyurl/fetch/schemes/internal/sasl"
	"github.com/anyurl/fetch/schemes/internal/sessions"
)

// Commands that Options.Mechanism can select in place of a SASL mechanism.
const (
	apopCommand = "+APOP"
	userCommand = "+LOGIN"
)

// An attempt is one way to log in.
type attempt struct {
	name      string // the value of Options.Mechanism that selects it
	plaintext bool   // sends the password unprotected
	send      func() (reply, error)
}

// attempts returns the ways to log in that the server offers and the
// credentials allow. The order is: SASL mechanisms, APOP, USER.
func (s *session) attempts(who login) (all []attempt) {
	for _, m := range sasl.Mechanisms() {
		if m.Fits(who.mechanism, who.auth) && (slices.Contains(s.caps["SASL"], m.Name) || who.mechanism == m.Name) {
			all = append(all, attempt{m.Name, m.Plaintext, func() (reply, error) {
				return s.authSASL(m.Name, m.New(who.auth, "fetch@"))
			}})
		}
	}
	if who.auth == nil {
		return all
	}
	free := !who.isRequested() && who.auth.Token == ""
	if free && s.timestamp != "" || who.mechanism == apopCommand {
		all = append(all, attempt{apopCommand, false, func() (reply, error) { return s.authAPOP(who.auth) }})
	}
	if free || who.mechanism == userCommand {
		all = append(all, attempt{userCommand, true, func() (reply, error) { return s.authUser(who.auth) }})
	}
	return all
}

// authenticate tries the ways to log in and returns the last reply. It tries
// the next one if the server rejects one that protects the password, because
// some servers offer mechanisms for which they store no password.
//
// After a failure, the password is not sent in plaintext, unless the user has
// allowed all mechanisms with "*". If a way was omitted for this reason, option
// holds its name.
func (d *driver) authenticate(s *session, who login) (r reply, option string, err error) {
	if a := who.auth; a != nil && strings.ContainsAny(a.User+a.Password.Reveal()+a.Token.Reveal(), "\r\n\x00") {
		return reply{}, "", fetch.BadURL.Errorf("control character in the user name or password")
	}
	all := s.attempts(who)
	if len(all) == 0 {
		return reply{}, "", who.unsupported()
	}
	for i, a := range all {
		if i > 0 && a.plaintext && s.TLS == nil && who.mechanism != "*" {
			return r, a.name, err
		}
		if i > 0 {
			s.Trace().Notef("server rejected the login, trying mechanism %s", a.name)
		}
		if err := sasl.CheckPlaintext(s.Conn, a.plaintext, who.typed); err != nil {
			return reply{}, "", err
		}
		last, lastErr := r, err
		r, err = a.send()
		switch {
		case err != nil && s.IsBroken() && i > 0:
			return last, "", lastErr // the server rejected the login and closed the connection
		case err != nil && (s.IsBroken() || err == sasl.ErrProofRejected):
			return reply{}, "", err
		case err == nil && (r.ok || a.plaintext || fetch.FaultOf(r.fail(fetch.Auth)) != fetch.Auth):
			return r, "", nil
		}
	}
	return r, "", err
}

func (l login) isRequested() bool { return l.mechanism != "" && l.mechanism != "*" }

// unsupported returns the error for a login without any attempt.
func (l login) unsupported() error {
	switch {
	case l.auth == nil:
		return sessions.NeedLogin(fetch.Auth, fetch.Auth.Errorf("server requires a login, but the URL names no user"))
	case slices.ContainsFunc(sasl.Mechanisms(), func(m sasl.Mechanism) bool { return m.Name == l.mechanism }):
		return fetch.Auth.Errorf("mechanism %s requires other credentials", l.mechanism)
	}
	err := fetch.Auth.Errorf("mechanism %s is not supported", tty.Escape(l.mechanism))
	return override.With(err, override.Setting{Kind: OverrideMechanism, Value: userCommand})
}
