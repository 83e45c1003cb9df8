package mail

import (
	"cmp"
	"context"
	"strings"

	"github.com/anyurl/fetch/fetch"
)

// A login is who wants in, and how that is to be proved.
type credentials struct {
	auth      *fetch.Credential // nil: nobody
	mechanism string            // "" or "*": the best
	typed     bool              // no server had a say
	prompt    fetch.LoginFunc   // for a password; may be nil
}

// loginOf returns the login for req. The mechanism is that of the URL, else
// that of the credential, which a mirror takes from another URL, else the
// default. NUL separates the words of PLAIN, and those of the pool's keys.
func credentialsOf(req *fetch.Request, mechanism string) (credentials, error) {
	creds := credentials{auth: req.Auth, mechanism: mechanism, typed: req.Typed()}
	if a := req.Auth; a != nil && strings.Contains(a.User+a.Password.Reveal()+a.Token.Reveal(), "\x00") {
		return creds, fetch.BadURL.Errorf("NUL in a user or a password")
	}
	inURL, err := parseUserinfo(req.URL)
	if err != nil {
		return creds, err
	}
	for _, c := range []*fetch.Credential{inURL, req.Auth} {
		if c == nil || c.Mechanism == "" {
			continue
		}
		creds.mechanism = c.Mechanism
		if req.Auth != nil && req.Auth.User == "" && !strings.EqualFold(c.Mechanism, "EXTERNAL") {
			creds.auth = nil
		}
		break
	}
	return creds, nil
}

// login proves who we are, and once more with what is answered when that was
// refused.
func (d *driver) login(ctx context.Context, s *session, creds credentials) error {
	for again := false; ; again = true {
		if err := creds.promptMissing(ctx, s, again); err != nil {
			return err
		}
		a, option, err := d.tryMechanisms(s, creds)
		if err != nil {
			return err
		}
		if a.status == "OK" {
			return s.requestCapabilities() // there may be more for us now
		}
		refusal := statusError("login", fetch.Auth, a)
		if option != "" {
			refusal = needOption(refusal, OverrideMechanism, option)
		} else if creds.auth == nil {
			refusal = fetch.NeedLogin(fetch.FaultOf(refusal), refusal)
		}
		if again || s.IsBroken() || creds.prompt == nil || creds.auth == nil || fetch.FaultOf(refusal) != fetch.Auth {
			return refusal
		}
		found, err := creds.prompt(ctx, fetch.Challenge{Origin: s.endpoint.Origin(), User: creds.auth.User, Realm: a.text, Rejected: true})
		if err != nil || found == nil {
			return cmp.Or(err, refusal)
		}
		creds.auth = found
	}
}

// complete finds the user, or the password of one who came without.
func (creds *credentials) promptMissing(ctx context.Context, s *session, again bool) error {
	if creds.prompt == nil || again || strings.EqualFold(creds.mechanism, "ANONYMOUS") || strings.EqualFold(creds.mechanism, "EXTERNAL") {
		return nil
	}
	ch := fetch.Challenge{Origin: s.endpoint.Origin(), Realm: "imap"}
	if creds.auth != nil {
		if creds.auth.Password != "" || creds.auth.Token != "" {
			return nil
		}
		ch.User = creds.auth.User
	}
	found, err := creds.prompt(ctx, ch)
	if err != nil || found == nil || ch.User != "" && found.User != "" && found.User != ch.User {
		return err
	}
	if creds.auth != nil {
		whole := *creds.auth
		whole.Password, whole.Token = found.Password, found.Token
		found = &whole
	}
	creds.auth = found
	return nil
}
