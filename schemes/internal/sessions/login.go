package sessions

import (
	"cmp"
	"context"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/override"
)

// NeedLogin adds the setting [override.Login] to err if fault is [fetch.Auth].
// The setting means that the request may succeed with a login. For any other
// fault, NeedLogin returns err unchanged.
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

// Ask requests a credential with the function login, which may be nil. It returns
// nil if login is nil or finds no credential.
func Ask(ctx context.Context, login fetch.LoginFunc, c fetch.Challenge) (*fetch.Credential, error) {
	if login == nil {
		return nil, nil
	}
	return login(ctx, c)
}

// AskFor is like Ask, but returns nil if the credential is for another user than
// the user of the challenge.
func AskFor(ctx context.Context, login fetch.LoginFunc, c fetch.Challenge) (*fetch.Credential, error) {
	found, err := Ask(ctx, login, c)
	if err != nil || found == nil || c.User != "" && found.User != "" && found.User != c.User {
		return nil, err
	}
	complete := *found
	complete.User = cmp.Or(found.User, c.User)
	return &complete, nil
}

// FindPassword returns auth unchanged if it has a password or a token. Otherwise
// it requests them with the function login, which may be nil, and returns a
// complete copy of auth. The argument auth may be nil. If auth lacks a password,
// as [LacksPassword] reports, and the function finds none, it returns the error
// NoPassword.
func FindPassword(
	ctx context.Context, login fetch.LoginFunc, auth *fetch.Credential, c fetch.Challenge,
) (*fetch.Credential, error) {
	switch {
	case LacksPassword(auth):
		return Complete(ctx, login, auth, c)
	case auth != nil && (auth.Password != "" || auth.Token != ""):
		return auth, nil
	case auth != nil:
		c.User = auth.User
	}
	found, err := AskFor(ctx, login, c)
	if err != nil || found == nil {
		return auth, err
	}
	if auth != nil {
		complete := *auth
		complete.Password, complete.Token = found.Password, found.Token
		found = &complete
	}
	return found, nil
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
	c.User = auth.User
	found, err := AskFor(ctx, login, c)
	switch {
	case err != nil:
		return nil, err
	case found == nil:
		return nil, NoPassword(auth.User)
	}
	complete := *auth
	complete.Password, complete.Token, complete.Incomplete = found.Password, found.Token, false
	if complete.Account == "" {
		complete.Account = found.Account
	}
	return &complete, nil
}
