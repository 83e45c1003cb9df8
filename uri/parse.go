package uri

// maxLen is the length from which a string is refused: offsets have 32 bits.
const maxLen = 1<<32 - 1

// Parse parses the production URI of RFC 3986: a scheme is required, a fragment
// allowed. The error is an [*Error].
func Parse(s string) (URI, error) {
	u, err := parse(s, false)
	if err == nil && u.scheme == 0 {
		return URI{}, &Error{0, "no scheme"}
	}
	return u, err
}

// ParseReference parses the production URI-reference: a URI or a relative
// reference. The error is an [*Error].
func ParseReference(s string) (URI, error) { return parse(s, false) }

// ParseZone is [ParseReference] that also takes the zone identifiers of RFC 6874
// ("[fe80::1%25eth0]"). They mean something on this host alone: use it for what a
// person typed, never for what came from elsewhere.
func ParseZone(s string) (URI, error) { return parse(s, true) }

// MustParse is [ParseReference] for constants and tests; it panics on an error.
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
	if n := run(s, 0, schemeChars); n > 0 && n < len(s) && s[n] == ':' && alpha.Has(s[0]) {
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
		i = span(s, i, SegmentNoColon)
		if i < len(s) && s[i] == ':' {
			return URI{}, &Error{i, "colon in the first segment of a relative path"}
		}
	}
	i = span(s, i, Path)
	u.query = uint32(i)
	if i < len(s) && s[i] == '?' {
		if i = span(s, i+1, QueryChars); i < len(s) && s[i] != '#' {
			return URI{}, errorAt(s, i, "query")
		}
	}
	u.fragment = uint32(i)
	if i < len(s) && s[i] == '#' {
		i = span(s, i+1, FragmentChars)
		if i < len(s) {
			return URI{}, errorAt(s, i, "fragment")
		}
	}
	if i < len(s) {
		return URI{}, errorAt(s, i, "path")
	}
	return u, nil
}

// parseAuthority parses [ userinfo "@" ] host [ ":" port ] from s[i], just past
// "//", and returns its end. RFC 3986 section 3.2.
func (u *URI) parseAuthority(i int, zones bool) (int, error) {
	s, start := u.s, i
	// A name, then perhaps ":" and digits, are host and port if the authority
	// ends there; else they begin a userinfo.
	name, end := hostport(s, start)
	if !authorityEnds(s, end) && s[start] != '[' {
		i = span(s, end, UserinfoChars)
		switch {
		case authorityEnds(s, i):
			return 0, errorAt(s, end, "port")
		case s[i] != '@':
			return 0, errorAt(s, i, "authority")
		}
		start = i + 1
		name, end = hostport(s, start)
	}
	if start < len(s) && s[start] == '[' {
		var err error
		if u.kind, name, err = parseLiteral(s, start, zones); err != nil {
			return 0, err
		}
		end = port(s, name)
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

// hostport returns the ends of a registered name that begins at s[i] and of the
// port after it.
func hostport(s string, i int) (name, end int) {
	name = span(s, i, RegNameChars)
	return name, port(s, name)
}

// port returns the end of [ ":" port ] at s[i].
func port(s string, i int) int {
	if i < len(s) && s[i] == ':' {
		return run(s, i+1, digit)
	}
	return i
}

// authorityEnds reports whether no authority goes on at s[i].
func authorityEnds(s string, i int) bool {
	return i == len(s) || s[i] == '/' || s[i] == '?' || s[i] == '#'
}
