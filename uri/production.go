package uri

// A Production is a rule of the grammar of RFC 3986, appendix A.
type Production uint8

const (
	Full        Production = iota // URI
	Reference                     // URI-reference
	Absolute                      // absolute-URI: no fragment
	Relative                      // relative-ref
	IPv4Address                   // IPv4address
	IPv6Address                   // IPv6address, without brackets
)

// productions has the name of each in the RFC.
var productions = [...]string{
	"URI", "URI-reference", "absolute-URI", "relative-ref", "IPv4address", "IPv6address",
}

func (p Production) String() string {
	if int(p) < len(productions) {
		return productions[p]
	}
	return "unknown"
}

// ParseProduction returns the production of that name in RFC 3986.
func ParseProduction(name string) (Production, bool) {
	for i, n := range productions {
		if n == name {
			return Production(i), true
		}
	}
	return 0, false
}

// Valid reports whether s matches p, strictly: no zone identifiers.
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
	case Full:
		return u.scheme > 0
	case Absolute:
		_, fragment := u.Fragment()
		return u.scheme > 0 && !fragment
	case Relative:
		return u.scheme == 0
	}
	return p == Reference
}
