package uri

// WithoutFragment returns u with its fragment undefined. It does not allocate.
func (u URI) WithoutFragment() URI {
	u.s = u.s[:u.fragment]
	return u
}

// WithoutQuery returns u with its query undefined; a fragment stays.
func (u URI) WithoutQuery() URI {
	p := u.Parts()
	if !p.HasQuery {
		return u
	}
	p.Query, p.HasQuery = "", false
	return u.rebuild(p)
}

// WithoutUserinfo returns u with its userinfo undefined, name and password.
func (u URI) WithoutUserinfo() URI {
	p := u.Parts()
	if !p.HasUserinfo {
		return u
	}
	p.Userinfo, p.HasUserinfo = "", false
	return u.rebuild(p)
}

// rebuild returns the URI of p, which are components of u or valid ones that
// cannot change how the others are read.
func (u URI) rebuild(p Parts) URI {
	if u.IsZero() {
		return u
	}
	v, err := p.define().join(true)
	if err != nil {
		return URI{}
	}
	return v
}

// WithPath returns u with another path, which must be encoded: see [Escape].
func (u URI) WithPath(path string) (URI, error) {
	p := u.Parts()
	p.Path = path
	return Build(p)
}

// WithQuery returns u with another query, which must be encoded. It is defined
// even if it is empty.
func (u URI) WithQuery(query string) (URI, error) {
	p := u.Parts()
	p.Query, p.HasQuery = query, true
	return Build(p)
}

// WithFragment returns u with another fragment, which must be encoded. It is
// defined even if it is empty.
func (u URI) WithFragment(fragment string) (URI, error) {
	p := u.Parts()
	p.Fragment, p.HasFragment = fragment, true
	return Build(p)
}
