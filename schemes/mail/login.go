package mail

import (
	"cmp"
	"context"
	"encoding/base64"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/line"
	"github.com/anyurl/fetch/uri"
)

// A login is who wants in, and how that is to be proved.
type login struct {
	auth      *fetch.Credential // nil: nobody
	mechanism string            // "" or "*": the best
	typed     bool              // no server had a say
	ask       fetch.LoginFunc   // for a password; may be nil
}

// loginOf is the login that req wants. RFC 5092 3 puts the mechanism behind
// the user, curl behind the password; "%3B" is a semicolon of the name.
func loginOf(req *fetch.Request, mechanism string) (login, error) {
	who := login{auth: req.Auth, mechanism: mechanism, typed: req.Typed()}
	name, password, has := req.URL.User()
	user, inName, inUser := cutMechanism(name)
	secret, inPassword, behind := cutMechanism(password)
	if !inUser && !behind {
		return who, nil
	}
	mechanism, err := uri.Unescape(cmp.Or(inName, inPassword))
	if err != nil || !isMechanism(mechanism) {
		return who, fetch.BadURL.Errorf("the URL asks for a login by no known kind of mechanism")
	}
	who.mechanism = mechanism
	if req.Auth == nil || !isOf(req.Auth, name, password) {
		return who, nil
	}
	auth := *req.Auth
	auth.User, _ = uri.Unescape(user)
	if has {
		secret, _ = uri.Unescape(secret)
		auth.Password = fetch.Secret(secret)
	}
	if who.auth = &auth; auth.User == "" && !strings.EqualFold(mechanism, "EXTERNAL") {
		who.auth = nil
	}
	return who, nil
}

// cutMechanism cuts ";AUTH=" off one half of a userinfo.
func cutMechanism(text string) (rest, mechanism string, ok bool) {
	const mark = ";AUTH="
	if i := strings.LastIndexByte(text, ';'); i >= 0 && len(text)-i >= len(mark) && strings.EqualFold(text[i:i+len(mark)], mark) {
		return text[:i], text[i+len(mark):], true
	}
	return text, "", false
}

// isOf reports whether auth was read from that userinfo.
func isOf(auth *fetch.Credential, name, password string) bool {
	user, err := uri.Unescape(name)
	secret, err2 := uri.Unescape(password)
	return err == nil && err2 == nil && user == auth.User && secret == auth.Password.Reveal()
}

func isMechanism(s string) bool {
	return s != "" && len(s) <= 40 && !strings.ContainsFunc(s, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune(`(){%"\]`, r)
	})
}

// login proves who we are, and once more with what is answered when that was
// refused.
func (d *driver) login(ctx context.Context, s *session, who login) error {
	for again := false; ; again = true {
		if err := who.complete(ctx, s, again); err != nil {
			return err
		}
		a, err := d.prove(s, who)
		if err != nil {
			return err
		}
		if a.status == "OK" {
			return s.askCapabilities() // there may be more for us now
		}
		refusal := refused("login", fetch.Auth, a)
		if again || s.broken.Load() || who.ask == nil || who.auth == nil || fetch.FaultOf(refusal) != fetch.Auth {
			return refusal
		}
		found, err := who.ask(ctx, fetch.Challenge{Origin: s.place.Origin(), User: who.auth.User, Realm: a.text, Again: true})
		if err != nil || found == nil {
			return cmp.Or(err, refusal)
		}
		who.auth = found
	}
}

// complete finds the user, or the password of one who came without.
func (who *login) complete(ctx context.Context, s *session, again bool) error {
	if who.ask == nil || again || strings.EqualFold(who.mechanism, "ANONYMOUS") || strings.EqualFold(who.mechanism, "EXTERNAL") {
		return nil
	}
	ch := fetch.Challenge{Origin: s.place.Origin(), Realm: "imap"}
	if who.auth != nil {
		if who.auth.Password != "" || who.auth.Token != "" {
			return nil
		}
		ch.User = who.auth.User
	}
	found, err := who.ask(ctx, ch)
	if err != nil || found == nil || ch.User != "" && found.User != "" && found.User != ch.User {
		return err
	}
	if who.auth != nil {
		whole := *who.auth
		whole.Password, whole.Token = found.Password, found.Token
		found = &whole
	}
	who.auth = found
	return nil
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

func (o Options) anonymous() string { return cmp.Or(o.Anonymous, "fetch@") }

// login is the command LOGIN (RFC 3501 6.2.3).
func (s *session) login(user, password string) (answer, error) {
	if err := checkQuoted(user, password); err != nil {
		return answer{}, err
	}
	secret := quote(password)
	return s.ask(secret, "LOGIN", quote(user), secret)
}

// checkQuoted refuses what no quoted string holds.
func checkQuoted(texts ...string) error {
	for _, text := range texts {
		if strings.ContainsAny(text, "\r\n\x00") {
			return fetch.Usage.Errorf("credential cannot be sent: %w", line.ErrUnsafe)
		}
	}
	return nil
}

// An exchange is one run of a SASL mechanism (RFC 4422).
type exchange struct {
	first func() []byte                // what we begin with; nil: the server begins
	next  func([]byte) ([]byte, error) // our answer to a challenge
	done  func() error                 // whether the server has proved itself; nil: it need not
}

// maxRounds bounds the challenges of one login.
const maxRounds = 8

// authenticate is the command AUTHENTICATE (RFC 3501 6.2.2), at once with our
// first message where the server takes that (RFC 4959). An error where the
// session is not broken means that we gave up.
func (s *session) authenticate(name string, x exchange, atOnce bool) (answer, error) {
	words := []string{"AUTHENTICATE", name}
	secret, begun := "", x.first == nil
	if atOnce && !begun {
		secret, begun = encode(x.first(), "="), true
		words = append(words, secret)
	}
	a, err := s.ask(secret, words...)
	for round := 0; err == nil && a.status == "+"; round++ {
		if round == maxRounds {
			s.broken.Store(true)
			return a, fetch.Protocol.Errorf("login by %s has no end", name)
		}
		var reply []byte
		if begun {
			if reply, err = challenge(a.text, x.next); err != nil {
				_, lost := s.tell([]byte("*\r\n"), "")
				return answer{}, cmp.Or(lost, err)
			}
		} else {
			reply, begun = x.first(), true
		}
		text := encode(reply, "")
		a, err = s.tell([]byte(text+"\r\n"), text)
	}
	if err == nil && a.status == "OK" && x.done != nil {
		err = x.done()
		if err != nil {
			s.broken.Store(true)
		}
	}
	return a, err
}

func challenge(text string, next func([]byte) ([]byte, error)) ([]byte, error) {
	b, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
	if err != nil {
		return nil, fetch.Auth.Errorf("challenge of the server is not base64")
	}
	return next(b)
}

// encode writes b in base64; nothing is what stands for no bytes.
func encode(b []byte, nothing string) string {
	if len(b) == 0 {
		return nothing
	}
	return base64.StdEncoding.EncodeToString(b)
}
