package mail

import (
	"strings"

	"github.com/anyurl/fetch/fetch"
)

// A mechanism is a way to log in.
type mechanism struct {
	name         string
	plaintext    bool // shows the secret to whoever listens
	token        bool // takes Credential.Token
	anonymous    bool // for nobody
	explicit     bool // unless asked for by name
	loginCommand bool // is LOGIN, not AUTHENTICATE
	newExchange  func(d *driver, auth *fetch.Credential) saslExchange
}

// mechanisms are those that we know, the best first.
var mechanisms = []mechanism{
	{name: "EXTERNAL", explicit: true, newExchange: saslExternal},
	{name: "OAUTHBEARER", plaintext: true, token: true, newExchange: saslOAuthBearer},
	{name: "XOAUTH2", plaintext: true, token: true, newExchange: saslXOAuth2},
	{name: "SCRAM-SHA-256", newExchange: saslSCRAMSHA256},
	{name: "SCRAM-SHA-1", newExchange: saslSCRAMSHA1},
	{name: "CRAM-MD5", newExchange: saslCRAMMD5},
	{name: "PLAIN", plaintext: true, newExchange: saslPlain},
	{name: "LOGIN", plaintext: true, newExchange: saslLogin},
	{name: "+LOGIN", plaintext: true, loginCommand: true},
	{name: "ANONYMOUS", anonymous: true, newExchange: saslAnonymous},
	{name: "+ANONYMOUS", anonymous: true, loginCommand: true},
}

// prove logs in by the mechanisms that the server offers, the best first, and
// returns the answer that decides. The next mechanism is tried where the client
// cannot complete one, and where the server refuses one that kept the password
// secret: servers announce mechanisms for which they have no password. Such a
// refusal sends no password in plaintext, unless the user asked for any
// mechanism ("*"). option names the mechanism that was not tried for this.
func (d *driver) tryMechanisms(s *session, creds credentials) (a answer, option string, err error) {
	asked := strings.ToUpper(creds.mechanism)
	var no *answer // of the mechanism before
	var last error // or why it was given up
	for _, m := range mechanisms {
		if wanted, err := m.eligible(asked, creds.auth); err != nil {
			return a, "", err
		} else if !wanted || !m.isOffered(s) {
			continue
		}
		if no != nil && m.plaintext && s.TLS == nil && asked != "*" {
			return *no, m.name, nil
		}
		if no != nil {
			s.Trace().Notef("login refused by the server: trying %s", m.name)
		}
		if err := s.checkPlaintext(m, creds); err != nil {
			return a, "", err
		}
		a, err := m.attempt(d, s, creds.auth)
		switch {
		case err != nil && s.IsBroken() && no != nil:
			return *no, "", nil // and it closed the connection
		case err != nil && s.IsBroken():
			return a, "", err
		case err != nil:
			last = err
			s.Trace().Notef("%s given up: %v", m.name, err)
		case a.status == "OK" || m.plaintext || !a.mayDependOnMechanism():
			return a, "", nil
		default:
			no = &a
		}
	}
	if no != nil {
		return *no, "", nil
	}
	err = noMechanismError(asked, creds.auth, last)
	if option := s.bestOffered(creds.auth); last == nil && asked != "" && option != "" {
		err = needOption(err, OverrideMechanism, option)
	}
	return a, "", err
}

// offers returns the best mechanism that the server offers for auth, or "".
func (s *session) bestOffered(auth *fetch.Credential) string {
	for _, m := range mechanisms {
		if ok, _ := m.eligible("", auth); ok && m.isOffered(s) {
			return m.name
		}
	}
	return ""
}

// noMechanism is the error where none was left to try.
func noMechanismError(asked string, auth *fetch.Credential, last error) error {
	switch {
	case last != nil:
		return fetch.Auth.With(last)
	case asked != "" && asked != "*":
		return fetch.Auth.Errorf("server offers no login by %s", asked)
	case auth == nil:
		return fetch.NeedLogin(fetch.Auth, fetch.Auth.Errorf("server wants a login, and the URL names no user"))
	}
	return fetch.Auth.Errorf("server offers no login that we know")
}

// wanted reports whether m may be tried for a login by asked.
func (m mechanism) eligible(asked string, auth *fetch.Credential) (bool, error) {
	switch {
	case asked == "" || asked == "*":
		return !m.explicit && m.anonymous == (auth == nil) && m.token == (auth != nil && auth.Token != ""), nil
	case m.name != asked:
		return false, nil
	case auth == nil && !m.anonymous && m.name != "EXTERNAL":
		return false, fetch.NeedLogin(fetch.Auth, fetch.Auth.Errorf("login by %s without a user", asked))
	}
	return true, nil
}

// mayDiffer reports whether a, which refuses a login, may be about the
// mechanism alone.
func (a answer) mayDependOnMechanism() bool {
	fault := fetch.FaultOf(statusError("login", fetch.Auth, a))
	return !a.final && (fault == fetch.Auth || fault == fetch.Protocol)
}

// mayTell sees to it that a secret does not go out in clear without a person
// who wants that.
func (s *session) checkPlaintext(m mechanism, creds credentials) error {
	switch {
	case s.TLS != nil || !m.plaintext || m.anonymous:
		return nil
	case !creds.typed:
		return fetch.Auth.Errorf("a server led here, and the password would go in clear")
	}
	s.Trace().Notef("password sent in clear text")
	return nil
}

func (m mechanism) isOffered(s *session) bool {
	if m.loginCommand {
		return !s.caps["LOGINDISABLED"]
	}
	return s.caps["AUTH="+m.name]
}

// run goes one way. What the server could do before the login is forgotten
// once it is made.
func (m mechanism) attempt(d *driver, s *session, auth *fetch.Credential) (a answer, err error) {
	caps := s.caps
	s.caps = nil
	switch {
	case !m.loginCommand:
		a, err = s.authenticate(m.name, m.newExchange(d, auth), caps["SASL-IR"])
	case m.anonymous:
		a, err = s.login("anonymous", d.anonymous())
	default:
		a, err = s.login(auth.User, auth.Password.Reveal())
	}
	if s.caps == nil && a.status != "OK" {
		s.caps = caps
	}
	return a, err
}
