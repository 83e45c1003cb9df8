package baseuri

import (
	"strings"

	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/uri/iri"
)

// Location resolves a reference that a server wrote, such as a Location field
// (RFC 9110 section 10.2.2), against base without its userinfo. It repairs
// references that are no URI, and reports that: a host in UTF-8 is mapped by
// IDNA, and other bytes are percent-encoded. A backslash is never a slash.
func ResolveLocation(base uri.URI, text string) (u uri.URI, repaired bool, err error) {
	ref, repaired, err := reference(text)
	if err == nil {
		u, err = base.WithoutUserinfo().Resolve(ref)
	}
	if err != nil {
		return uri.URI{}, false, err
	}
	return u, repaired, nil
}

// Absolute reads a URL that a server wrote, as Location does. A relative
// reference is an error.
func ParseAbsolute(text string) (uri.URI, error) {
	u, _, err := reference(text)
	if err == nil && u.Scheme() == "" {
		err = &uri.Error{Reason: "no scheme"}
	}
	if err != nil {
		return uri.URI{}, err
	}
	return u, nil
}

func reference(text string) (ref uri.URI, repaired bool, err error) {
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

// repair encodes what does not belong in path, query and fragment. A scheme or
// an authority is never touched: a host is not to be guessed.
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

// encode percent-encodes the printable and non-ASCII bytes of s outside keep;
// encodings that stand there stay. A control character stays too, so that s
// remains no URI.
func encode(s string, keep uri.Set) string {
	var b []byte
	for i := range len(s) {
		c := s[i]
		switch {
		case keep.Has(c), c < ' ', c == 0x7f, c == '%' && i+2 < len(s) && hex(s[i+1]) && hex(s[i+2]):
			b = append(b, c)
		default:
			b = uri.AppendEscape(b, s[i:i+1], 0)
		}
	}
	return string(b)
}

func hex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f'
}
