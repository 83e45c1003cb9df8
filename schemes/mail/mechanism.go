package mail

import (
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/internal/sasl"
	"github.com/anyurl/fetch/schemes/internal/sessions"
)

// A mechanism describes a SASL mechanism or the LOGIN command.
type mechanism struct {
	sasl.Mechanism
	loginCommand bool // uses the LOGIN command, not AUTHENTICATE
}

// mechanisms lists the supported mechanisms, with the preferred mechanisms
// first.
var mechanisms = withLoginCommand(sasl.Mechanisms())

// withLoginCommand returns the mechanisms in order of preference, with two that
// use the LOGIN command. It inserts "+LOGIN" before the anonymous SASL
// mechanism, and appends "+ANONYMOUS".
func withLoginCommand(all []sasl.Mechanism) (list []mechanism) {
	for _, m := range all {
		if m.Anonymous {
			list = append(list, mechanism{sasl.Mechanism{Name: "+LOGIN", Plaintext: true}, true})
		}
		list = append(list, mechanism{Mechanism: m})
	}
	return append(list, mechanism{sasl.Mechanism{Name: "+ANONYMOUS", Anonymous: true}, true})
}

// Mechanisms returns the names of the SASL mechanisms that Options.Mechanism
// accepts, with the preferred mechanisms first.
func Mechanisms() (names []string) {
	for _, m := range mechanisms {
		names = append(names, m.Name)
	}
	return names
}

// tryMechanisms tries the mechanisms that the server offers in order of
// preference. It returns the server's answer to the last attempt.
//
// If the client cannot complete a mechanism, tryMechanisms tries the next
// mechanism. It also does so if the server rejects a mechanism that protects
// the password. Some servers offer mechanisms for which they store no password.
//
// After a rejection, the password is not sent in plaintext, unless the user has
// allowed all mechanisms with "*". If a mechanism was omitted for this reason,
// option holds its name.
func (d *driver) tryMechanisms(s *session, creds credentials) (a answer, option string, err error) {
	requested := strings.ToUpper(creds.mechanism)
	var rejection *answer // rejection of the previous mechanism
	var lastErr error     // reason why the previous mechanism was canceled
	for _, m := range mechanisms {
		if ok, err := m.eligible(requested, creds.auth); err != nil {
			return a, "", err
		} else if !ok || !m.isOffered(s) {
			continue
		}
		if rejection != nil && m.Plaintext && s.TLS == nil && requested != "*" {
			return *rejection, m.Name, nil
		}
		if rejection != nil {
			s.Trace().Notef("server rejected the login, trying mechanism %s", m.Name)
		}
		if err := sasl.CheckPlaintext(s.Conn, m.Plaintext && !m.Anonymous, creds.typed); err != nil {
			return a, "", err
		}
		a, err := m.attempt(d, s, creds.auth)
		switch {
		case err != nil && s.IsBroken() && rejection != nil:
			return *rejection, "", nil // the server rejected the login and closed the connection
		case err != nil && s.IsBroken():
			return a, "", err
		case err != nil:
			lastErr = err
			s.Trace().Notef("authentication by %s canceled: %v", m.Name, err)
		case a.status == "OK" || m.Plaintext || !a.mayDependOnMechanism():
			return a, "", nil
		default:
			rejection = &a
		}
	}
	if rejection != nil {
		return *rejection, "", nil
	}
	err = noMechanismError(requested, creds.auth, lastErr)
	if option := s.bestOffered(creds.auth); lastErr == nil && requested != "" && option != "" {
		err = needOption(err, OverrideMechanism, option)
	}
	return a, "", err
}

// bestOffered returns the name of the first mechanism in order of preference
// that the server offers and the credentials allow, or "".
func (s *session) bestOffered(auth *fetch.Credential) string {
	for _, m := range mechanisms {
		if ok, _ := m.eligible("", auth); ok && m.isOffered(s) {
			return m.Name
		}
	}
	return ""
}

// noMechanismError returns the error for a login in which no mechanism was
// suitable or could be completed.
func noMechanismError(requested string, auth *fetch.Credential, lastErr error) error {
	switch {
	case lastErr != nil:
		return fetch.Auth.With(lastErr)
	case requested != "" && requested != "*":
		return fetch.Auth.Errorf("server does not offer the mechanism %s", requested)
	case auth == nil:
		return sessions.NeedLogin(fetch.Auth, fetch.Auth.Errorf("server requires authentication, but the URL names no user"))
	}
	return fetch.Auth.Errorf("server offers no supported authentication mechanism")
}

// eligible reports whether the credentials allow the mechanism m. If the user
// has requested a mechanism by name, all other mechanisms are not eligible.
func (m mechanism) eligible(requested string, auth *fetch.Credential) (bool, error) {
	fits := m.Fits(requested, auth)
	if !fits && m.Name == requested {
		return false, sessions.NeedLogin(fetch.Auth, fetch.Auth.Errorf("mechanism %s requires a user name", requested))
	}
	return fits, nil
}

// mayDependOnMechanism reports whether another mechanism may succeed after the
// server has rejected a login with the answer a.
func (a answer) mayDependOnMechanism() bool {
	fault := fetch.FaultOf(statusError("login", fetch.Auth, a))
	return !a.final && (fault == fetch.Auth || fault == fetch.Protocol)
}

func (m mechanism) isOffered(s *session) bool {
	if m.loginCommand {
		return !s.caps["LOGINDISABLED"]
	}
	return s.caps["AUTH="+m.Name]
}

// attempt authenticates with the mechanism m. After a successful login, it
// discards the capabilities that the server sent before the login.
func (m mechanism) attempt(d *driver, s *session, auth *fetch.Credential) (a answer, err error) {
	caps := s.caps
	s.caps = nil
	switch {
	case !m.loginCommand:
		a, err = s.authenticate(m.Name, m.New(auth, d.anonymous()), caps["SASL-IR"])
	case m.Anonymous:
		a, err = s.login("anonymous", d.anonymous())
	default:
		a, err = s.login(auth.User, auth.Password.Reveal())
	}
	if s.caps == nil && a.status != "OK" {
		s.caps = caps
	}
	return a, err
}
