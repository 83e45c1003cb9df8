package mail

import (
	"cmp"
	"context"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/internal/sasl"
	"github.com/anyurl/fetch/schemes/internal/sessions"
)

// credentials holds the user name, the secret and the SASL mechanism for a
// login.
type credentials struct {
	auth      *fetch.Credential // nil for an anonymous login
	mechanism string            // SASL mechanism; "" or "*" means the best mechanism
	typed     bool              // if true, the user entered the URL; otherwise a redirect or listing chose it
	prompt    fetch.LoginFunc   // returns missing credentials; may be nil
}

// credentialsOf returns the credentials for req. The mechanism of the URL takes
// precedence over the mechanism of the credential, and both over the default
// mechanism. The user name, password and token must not contain NUL, because
// the PLAIN mechanism separates fields with NUL.
func credentialsOf(req *fetch.Request, mechanism string) (credentials, error) {
	creds := credentials{auth: req.Auth, mechanism: mechanism, typed: req.Typed()}
	if a := req.Auth; a != nil && strings.Contains(a.User+a.Password.Reveal()+a.Token.Reveal(), "\x00") {
		return creds, fetch.BadURL.Errorf("user or password contains NUL")
	}
	inURL, err := sasl.ParseUserinfo(req.URL)
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

// login authenticates the session s. If the server rejects the credentials,
// login prompts for other credentials and tries once more.
func (d *driver) login(ctx context.Context, s *session, creds credentials) error {
	for retry := false; ; retry = true {
		if err := creds.promptMissing(ctx, s, retry); err != nil {
			return err
		}
		a, option, err := d.tryMechanisms(s, creds)
		if err != nil {
			return err
		}
		if a.status == "OK" {
			return s.requestCapabilities() // capabilities may change after a login
		}
		refusal := statusError("login", fetch.Auth, a)
		if option != "" {
			refusal = needOption(refusal, OverrideMechanism, option)
		} else if creds.auth == nil {
			refusal = sessions.NeedLogin(fetch.FaultOf(refusal), refusal)
		}
		if retry || s.IsBroken() || creds.auth == nil || fetch.FaultOf(refusal) != fetch.Auth {
			return refusal
		}
		found, err := sessions.Ask(ctx, creds.prompt, fetch.Challenge{
			Origin: s.target.Origin(), User: creds.auth.User, Realm: a.text, Rejected: true,
		})
		if err != nil || found == nil {
			return cmp.Or(err, refusal)
		}
		creds.auth = found
	}
}

// promptMissing prompts for a missing user name and password. If only the
// password is missing, it prompts for the password of the given user.
func (creds *credentials) promptMissing(ctx context.Context, s *session, retry bool) (err error) {
	if retry || strings.EqualFold(creds.mechanism, "ANONYMOUS") || strings.EqualFold(creds.mechanism, "EXTERNAL") {
		return nil
	}
	creds.auth, err = sessions.FindPassword(ctx, creds.prompt, creds.auth,
		fetch.Challenge{Origin: s.target.Origin(), Realm: "imap"})
	return err
}
