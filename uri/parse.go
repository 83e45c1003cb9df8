package uri

// maxLen is one more than the maximum length of a URI in bytes. The type URI
// stores offsets with 32 bits.
const maxLen = 1<<32 - 1

// Parse parses a URI (the URI production of RFC 3986). The scheme is required
// and a fragment is allowed. The error is an [*Error].
func Parse(s string) (URI, error) {
	u, err := parse(s, false)
	if err == nil && u.scheme == 0 {
		return URI{}, &Error{0, "no scheme"}
	}
	return u, err
}

// ParseReference parses a URI or a relative reference (the URI-reference
// production of RFC 3986). The error is an [*Error].
func ParseReference(s string) (URI, error) { return parse(s, false) }

// ParseZone parses a URI reference that may contain an IPv6 zone identifier
// (RFC 6874), as in "[fe80::1%25eth0]". It is otherwise like [ParseReference].
// A zone identifies a network interface of the local machine. Use ParseZone
// only for text entered by a local user.
func ParseZone(s string) (URI, error) { return parse(s, true) }

// MustParse is like [ParseReference] but panics if s is invalid. It is intended
// for constants and tests.
func MustParse(s string) URI {
	u, err := parse(s, false)
	if err != nil {
		panic("uri: MustParse: " + err.Error())
	}
	return u
}

func parse(s string, zones bool) (URI, error) {
	if uint64(len(s)) >= maxLen {
		return URI{}, &Error{0, "too long"}
	}
	u := URI{s: s, parsed: true}
	i := 0
	if n := spanRaw(s, 0, schemeChars); n > 0 && n < len(s) && s[n] == ':' && alpha.Has(s[0]) {
		u.scheme = uint32(n)
		i = n + 1
	}
	if i+1 < len(s) && s[i] == '/' && s[i+1] == '/' {
		var err error
		if i, err = u.parseAuthority(i+2, zones); err != nil {
			return URI{}, err
		}
	} else {
		u.host, u.port = uint32(i), uint32(i)
	}
	u.path = uint32(i)
	if u.scheme == 0 && !u.auth {
		i = spanEncoded(s, i, SegmentNoColon)
		if i < len(s) && s[i] == ':' {
			return URI{}, &Error{i, "colon in the first segment of a relative path"}
		}
	}
	i = spanEncoded(s, i, Path)
	u.query = uint32(i)
	if i < len(s) && s[i] == '?' {
		if i = spanEncoded(s, i+1, QueryChars); i < len(s) && s[i] != '#' {
			return URI{}, errorAt(s, i, "query")
		}
	}
	u.fragment = uint32(i)
	if i < len(s) && s[i] == '#' {
		i = spanEncoded(s, i+1, FragmentChars)
		if i < len(s) {
			return URI{}, errorAt(s, i, "fragment")
		}
	}
	if i < len(s) {
		return URI{}, errorAt(s, i, "path")
	}
	return u, nil
}

// parseAuthority parses the authority that starts at s[i], after "//" (RFC 3986
// section 3.2). It returns the end offset of the authority.
func (u *URI) parseAuthority(i int, zones bool) (int, error) {
	s, start := u.s, i
	// A name and an optional port are the host only if the authority ends after
	// them. Otherwise they are the start of the user name and the password.
	name, end := hostPortEnds(s, start)
	if !authorityEnds(s, end) && s[start] != '[' {
		i = spanEncoded(s, end, UserinfoChars)
		switch {
		case authorityEnds(s, i):
			return 0, errorAt(s, end, "port")
		case s[i] != '@':
			return 0, errorAt(s, i, "authority")
		}
		start = i + 1
		name, end = hostPortEnds(s, start)
	}
	if start < len(s) && s[start] == '[' {
		var err error
		if u.kind, name, err = parseLiteral(s, start, zones); err != nil {
			return 0, err
		}
		end = portEnd(s, name)
	} else if isIPv4(s[start:name]) {
		u.kind = IPv4
	} else if name > start {
		u.kind = RegName
	}
	if !authorityEnds(s, end) {
		if end > name {
			return 0, errorAt(s, end, "port")
		}
		return 0, errorAt(s, end, "host")
	}
	u.auth, u.host, u.port = true, uint32(start), uint32(name)
	return end, nil
}

// hostPortEnds returns two offsets: the end of the registered name that starts
// at s[i], and the end of the port after the name. The port is optional.
func hostPortEnds(s string, i int) (name, end int) {
	name = spanEncoded(s, i, RegNameChars)
	return name, portEnd(s, name)
}

// portEnd returns the end of the port that starts with ":" at s[i]. It returns
// i if there is no ":" at s[i].
func portEnd(s string, i int) int {
	if i < len(s) && s[i] == ':' {
		return spanRaw(s, i+1, digit)
	}
	return i
}

// authorityEnds reports whether s[i] is the end of s or a "/", "?" or "#",
// which ends an authority.
func authorityEnds(s string, i int) bool {
	return i == len(s) || s[i] == '/' || s[i] == '?' || s[i] == '#'
}
