package baseuri

import (
	"strings"

	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/uri/iri"
)

// ResolveLocation resolves a reference sent by a server, such as the value of a
// Location field (RFC 9110 section 10.2.2). It resolves the reference against
// base without the userinfo of base.
//
// If the reference is not a valid URI, ResolveLocation repairs the reference
// and sets repaired to true. It converts a host in UTF-8 to ASCII (IDNA) and
// percent-encodes other invalid bytes. It does not treat a backslash as a
// slash.
func ResolveLocation(base uri.URI, text string) (u uri.URI, repaired bool, err error) {
	ref, repaired, err := parseReference(text)
	if err == nil {
		u, err = base.WithoutUserinfo().Resolve(ref)
	}
	if err != nil {
		return uri.URI{}, false, err
	}
	return u, repaired, nil
}

// ParseAbsolute parses a URL sent by a server. It repairs an invalid URL by the
// rules of [ResolveLocation]. It returns an error for a relative reference.
func ParseAbsolute(text string) (uri.URI, error) {
	u, _, err := parseReference(text)
	if err == nil && u.Scheme() == "" {
		err = &uri.Error{Reason: "no scheme"}
	}
	if err != nil {
		return uri.URI{}, err
	}
	return u, nil
}

// parseReference parses a reference. If the reference is invalid,
// parseReference repairs it and returns true for repaired.
func parseReference(text string) (ref uri.URI, repaired bool, err error) {
	text = strings.Trim(text, " \t")
	if ref, err = uri.ParseReference(text); err != nil {
		repaired = true
		ref, err = iri.ParseReference(repair(text))
	}
	if err != nil || !strings.Contains(ref.Host(), "%") {
		return ref, repaired, err
	}
	if named, err := iri.ToASCII(ref); err == nil {
		return named, repaired || named != ref, nil
	}
	return ref, repaired, nil
}

// repair percent-encodes the invalid bytes in the path, query and fragment of a
// reference. It does not change the scheme and the authority, because the
// result could name a different host.
func repair(text string) string {
	rest, fragment, hasFragment := strings.Cut(text, "#")
	rest, query, hasQuery := strings.Cut(rest, "?")
	front, path := "", rest
	if scheme, after, ok := strings.Cut(path, ":"); ok && !strings.ContainsAny(scheme, "/\\") {
		front, path = scheme+":", after
	}
	if after, ok := strings.CutPrefix(path, "//"); ok {
		authority, _, _ := strings.Cut(after, "/")
		front, path = front+"//"+authority, after[len(authority):]
	}
	text = front + encode(path, uri.Path)
	if hasQuery {
		text += "?" + encode(query, uri.QueryChars)
	}
	if hasFragment {
		text += "#" + encode(fragment, uri.FragmentChars)
	}
	return text
}

// encode percent-encodes the bytes of s that are not in the set keep. It does
// not change valid percent-encodings. It does not change control characters, so
// that parsing the result fails.
func encode(s string, keep uri.Set) string {
	var b []byte
	for i := range len(s) {
		c := s[i]
		switch {
		case keep.Has(c), c < ' ', c == 0x7f, c == '%' && i+2 < len(s) && isHex(s[i+1]) && isHex(s[i+2]):
			b = append(b, c)
		default:
			b = uri.AppendEscape(b, s[i:i+1], 0)
		}
	}
	return string(b)
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f'
}
