package mail

import (
	"cmp"
	"context"
	"strings"

	"github.com/anyurl/fetch/fetch"
)

// A login is who wants in, and how that is to be proved.
type login struct {
	auth      *fetch.Credential // nil: nobody
	mechanism string            // "" or "*": the best
	typed     bool              // no server had a say
	ask       fetch.LoginFunc   // for a password; may be nil
}

// loginOf returns the login for req. The mechanism is that of the URL, else
// that of the credential, which a mirror takes from another URL, else the
// default. NUL separates the words of PLAIN, and those of the pool's keys.
func loginOf(req *fetch.Request, mechanism string) (login, error) {
	who := login{auth: req.Auth, mechanism: mechanism, typed: req.Typed()}
	if a := req.Auth; a != nil && strings.Contains(a.User+a.Password.Reveal()+a.Token.Reveal(), "\x00") {
		return who, fetch.BadURL.Errorf("NUL in a user or a password")
	}
	inURL, err := userOf(req.URL)
	if err != nil {
		return who, err
	}
	for _, c := range []*fetch.Credential{inURL, req.Auth} {
		if c == nil || c.Mechanism == "" {
			continue
		}
		who.mechanism = c.Mechanism
		if req.Auth != nil && req.Auth.User == "" && !strings.EqualFold(c.Mechanism, "EXTERNAL") {
			who.auth = nil
		}
		break
	}
	return who, nil
}

// login proves who we are, and once more with what is answered when that was
// refused.
func (d *driver) login(ctx context.Context, s *session, who login) error {
	for again := false; ; again = true {
		if err := who.complete(ctx, s, again); err != nil {
			return err
		}
		a, option, err := d.prove(s, who)
		if err != nil {
			return err
		}
		if a.status == "OK" {
			return s.askCapabilities() // there may be more for us now
		}
		refusal := refused("login", fetch.Auth, a)
		if option != "" {
			refusal = needOption(refusal, OverrideMechanism, option)
		} else if who.auth == nil {
			refusal = fetch.NeedLogin(fetch.FaultOf(refusal), refusal)
		}
		if again || s.IsBroken() || who.ask == nil || who.auth == nil || fetch.FaultOf(refusal) != fetch.Auth {
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
