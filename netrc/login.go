package netrc

import (
	"context"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// Login returns the credential for the server that sent the challenge c. It
// implements [fetch.LoginFunc]. It returns nil if the file has no entry for the
// server, or if the server rejected the credential before. The error is always
// nil.
func (f *File) Login(_ context.Context, c fetch.Challenge) (*fetch.Credential, error) {
	if c.Rejected {
		return nil, nil
	}
	return f.lookup(c.Origin.Host, c.User, c.Typed), nil
}

// RedirectLogin returns the credential for the origin o, to which a server
// redirected the request. It is intended for [fetch.Options].RedirectLogin. It
// uses only machine entries, and returns nil if no entry has the host of o.
func (f *File) RedirectLogin(o fetch.Origin) *fetch.Credential {
	return f.lookup(o.Host, "", false)
}

// Credential returns the credential for a URL that the user entered. It is
// intended for [fetch.Request].Auth. It may use the default entry. If the URL
// has a user name, only entries for this user match. Credential returns nil if
// no entry matches.
func (f *File) Credential(u uri.URI) *fetch.Credential {
	t, err := fetch.TargetOf(u, 0)
	if err != nil {
		return nil
	}
	user, _, _ := u.User()
	return f.lookup(t.Origin().Host, user, true)
}

func (f *File) lookup(host, user string, typed bool) *fetch.Credential {
	e, ok := f.find(host, user, typed)
	if !ok {
		return nil
	}
	return e.credential()
}

func (e entry) credential() *fetch.Credential {
	c := &fetch.Credential{User: e.Login}
	if e.Password != nil {
		c.Password = *e.Password
	}
	if e.Account != nil {
		c.Account = *e.Account
	}
	return c
}
