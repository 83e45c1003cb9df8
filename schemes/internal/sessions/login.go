package sessions

import (
	"context"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/override"
)

// NeedLogin adds the setting [override.Login] to err if fault is [fetch.Auth].
// The setting says that the request may succeed with a login. For any
// other fault, NeedLogin returns err unchanged.
func NeedLogin(fault fetch.Fault, err error) error {
	if fault != fetch.Auth {
		return err
	}
	return override.With(err, override.Setting{Kind: override.Login})
}

// LacksPassword reports whether auth is the user name of a URL without a
// password, for which no password has been found.
func LacksPassword(auth *fetch.Credential) bool {
	return auth != nil && auth.Incomplete && auth.User != "" && auth.Password == "" && auth.Token == ""
}

// NoPassword returns the error for a login without a password.
func NoPassword(user string) error {
	return NeedLogin(fetch.Auth, fetch.Auth.Errorf("no password for %s", user))
}

// Complete returns auth unchanged, unless it lacks a password. It then requests
// the password of the user with the function login, which may be nil. If there
// is no password, Complete returns the error NoPassword.
func Complete(
	ctx context.Context, login fetch.LoginFunc, auth *fetch.Credential, c fetch.Challenge,
) (*fetch.Credential, error) {
	if !LacksPassword(auth) {
		return auth, nil
	}
	var found *fetch.Credential
	if login != nil {
		var err error
		c.User = auth.User
		if found, err = login(ctx, c); err != nil {
			return nil, err
		}
	}
	if found == nil || found.User != "" && found.User != auth.User {
		return nil, NoPassword(auth.User)
	}
	complete := *auth
	complete.Password, complete.Token, complete.Incomplete = found.Password, found.Token, false
	if complete.Account == "" {
		complete.Account = found.Account
	}
	return &complete, nil
}
