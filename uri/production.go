package uri

// A Production is a rule of the URI grammar in RFC 3986 appendix A.
type Production uint8

const (
	FullURI      Production = iota // URI
	URIReference                   // URI-reference
	AbsoluteURI                    // absolute-URI, which has no fragment
	RelativeRef                    // relative-ref
	IPv4Address                    // IPv4address
	IPv6Address                    // IPv6address, without brackets
)

// productions lists the names of the grammar rules in RFC 3986.
var productions = [...]string{
	"URI", "URI-reference", "absolute-URI", "relative-ref", "IPv4address", "IPv6address",
}

// String returns the name of the production.
func (p Production) String() string {
	if int(p) < len(productions) {
		return productions[p]
	}
	return "unknown"
}

// ParseProduction returns the production with the given name, such as
// "relative-ref". It returns false if no Production has this name.
func ParseProduction(name string) (Production, bool) {
	for i, n := range productions {
		if n == name {
			return Production(i), true
		}
	}
	return 0, false
}

// Valid reports whether s matches the grammar rule p. IPv6 zone identifiers are
// not allowed.
func Valid(s string, p Production) bool {
	switch p {
	case IPv4Address:
		return isIPv4(s)
	case IPv6Address:
		return isIPv6(s)
	}
	u, err := parse(s, false)
	if err != nil {
		return false
	}
	switch p {
	case FullURI:
		return u.scheme > 0
	case AbsoluteURI:
		_, fragment := u.Fragment()
		return u.scheme > 0 && !fragment
	case RelativeRef:
		return u.scheme == 0
	}
	return p == URIReference
}
