package mail

import (
	"cmp"
	"context"
	"strings"

	"github.com/anyurl/fetch/fetch"
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
// the user, curl behind the password; "%3B" is a semicolon of the name. NUL
// parts the words of PLAIN, and of the pool's keys.
func loginOf(req *fetch.Request, mechanism string) (login, error) {
	who := login{auth: req.Auth, mechanism: mechanism, typed: req.Typed()}
	if a := req.Auth; a != nil && strings.Contains(a.User+a.Password.Reveal()+a.Token.Reveal(), "\x00") {
		return who, fetch.BadURL.Errorf("NUL in a user or a password")
	}
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
