package mail

import (
	"strings"

	"github.com/anyurl/fetch/fetch"
)

// A mechanism is a way to log in.
type mechanism struct {
	name      string
	clear     bool // shows the secret to whoever listens
	token     bool // takes Credential.Token
	anonymous bool // for nobody
	never     bool // unless asked for by name
	command   bool // is LOGIN, not AUTHENTICATE
	start     func(d *driver, auth *fetch.Credential) exchange
}

// mechanisms are those that we know, the best first.
var mechanisms = []mechanism{
	{name: "EXTERNAL", never: true, start: external},
	{name: "OAUTHBEARER", clear: true, token: true, start: oauthBearer},
	{name: "XOAUTH2", clear: true, token: true, start: xoauth2},
	{name: "SCRAM-SHA-256", start: scramSHA256},
	{name: "SCRAM-SHA-1", start: scramSHA1},
	{name: "CRAM-MD5", start: cramMD5},
	{name: "PLAIN", clear: true, start: plain},
	{name: "LOGIN", clear: true, start: loginWords},
	{name: "+LOGIN", clear: true, command: true},
	{name: "ANONYMOUS", anonymous: true, start: anonymousToken},
	{name: "+ANONYMOUS", anonymous: true, command: true},
}

// prove returns the answer that decides. Where we cannot go on with one
// mechanism we try the next; where the server says no, we do not.
func (d *driver) prove(s *session, who login) (answer, error) {
	anonymous := who.auth == nil
	asked := strings.ToUpper(who.mechanism)
	var last error
	for _, m := range mechanisms {
		switch {
		case asked == "" || asked == "*":
			if m.never || m.anonymous != anonymous || m.token != (!anonymous && who.auth.Token != "") {
				continue
			}
		case m.name != asked:
			continue
		case anonymous && !m.anonymous && m.name != "EXTERNAL":
			return answer{}, fetch.Auth.Errorf("login by %s, but nobody to log in", asked)
		}
		if !m.offered(s) {
			continue
		}
		if err := s.mayTell(m, who); err != nil {
			return answer{}, err
		}
		a, err := m.run(d, s, who.auth)
		if err == nil || s.broken.Load() {
			return a, err
		}
		last = err
		s.trace.Notef("%s given up: %v", m.name, err)
	}
	switch {
	case last != nil:
		return answer{}, fetch.Auth.With(last)
	case asked != "" && asked != "*":
		return answer{}, fetch.Auth.Errorf("server offers no login by %s", asked)
	case anonymous:
		return answer{}, fetch.Auth.Errorf("server wants a login, and the URL names nobody")
	}
	return answer{}, fetch.Auth.Errorf("server offers no login that we know")
}

// mayTell sees to it that a secret does not go out in clear without a person
// who wants that.
func (s *session) mayTell(m mechanism, who login) error {
	switch {
	case s.secure != nil || !m.clear || m.anonymous:
		return nil
	case !who.typed:
		return fetch.Auth.Errorf("a server led here, and the password would go in clear")
	}
	s.trace.Notef("password sent in clear text")
	return nil
}

func (m mechanism) offered(s *session) bool {
	if m.command {
		return !s.caps["LOGINDISABLED"]
	}
	return s.caps["AUTH="+m.name]
}

// run goes one way. What the server could do before the login is forgotten
// once it is made.
func (m mechanism) run(d *driver, s *session, auth *fetch.Credential) (a answer, err error) {
	caps := s.caps
	s.caps = nil
	switch {
	case !m.command:
		a, err = s.authenticate(m.name, m.start(d, auth), caps["SASL-IR"])
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
