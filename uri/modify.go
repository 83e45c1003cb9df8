package uri

// WithoutFragment returns u without "#" and the fragment. It does not allocate.
func (u URI) WithoutFragment() URI {
	u.s = u.s[:u.fragment]
	return u
}

// WithoutQuery returns u without "?" and the query. The fragment is kept.
func (u URI) WithoutQuery() URI {
	p := u.Parts()
	if !p.HasQuery {
		return u
	}
	p.Query, p.HasQuery = "", false
	return u.rebuild(p)
}

// WithoutUserinfo returns u without its user name and password.
func (u URI) WithoutUserinfo() URI {
	p := u.Parts()
	if !p.HasUserinfo {
		return u
	}
	p.Userinfo, p.HasUserinfo = "", false
	return u.rebuild(p)
}

// rebuild composes a URI from p, a modified copy of the components of u. It
// returns the zero URI if u is zero or the result is too long.
func (u URI) rebuild(p Parts) URI {
	if u.IsZero() {
		return u
	}
	v, err := p.setHasFields().compose(true)
	if err != nil {
		return URI{}
	}
	return v
}

// WithPath returns a copy of u with the given path. The path must be
// percent-encoded, for example by [Escape]. The error is from [Build].
func (u URI) WithPath(path string) (URI, error) {
	p := u.Parts()
	p.Path = path
	return Build(p)
}

// WithQuery returns a copy of u with the given query. The query must be
// percent-encoded. If query is empty, the result ends in "?" before any
// fragment. The error is from [Build].
func (u URI) WithQuery(query string) (URI, error) {
	p := u.Parts()
	p.Query, p.HasQuery = query, true
	return Build(p)
}

// WithFragment returns a copy of u with the given fragment. The fragment must
// be percent-encoded. If fragment is empty, the result ends in "#". The error
// is from [Build].
func (u URI) WithFragment(fragment string) (URI, error) {
	p := u.Parts()
	p.Fragment, p.HasFragment = fragment, true
	return Build(p)
}
