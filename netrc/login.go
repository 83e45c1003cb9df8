package netrc

import (
	"context"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// Login returns the login for the server of a challenge. It is a
// [fetch.LoginFunc]. It returns nil if f has no entry for the server, or if the
// server refused the login before.
func (f *File) Login(_ context.Context, c fetch.Challenge) (*fetch.Credential, error) {
	if c.Rejected {
		return nil, nil
	}
	return f.lookup(c.Origin.Host, c.User, c.Typed), nil
}

// RedirectLogin returns the login of the machine entry for o, for
// [fetch.Options].RedirectLogin. It returns nil if f has no such entry.
func (f *File) RedirectLogin(o fetch.Origin) *fetch.Credential {
	return f.lookup(o.Host, "", false)
}

// Credential returns the login for u, for use as [fetch.Request].Auth. The
// default entry applies, so u must be a URL that the user entered. If u has a
// user, Credential returns the login of that user. It returns nil if f has no
// matching entry.
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
