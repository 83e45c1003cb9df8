package uri

import (
	"strconv"
	"strings"
)

// Guess reads a reference as a person types one, who leaves out what seems to go
// without saying: "www.w3.org/Addressing/", "localhost:8080/x", "[::1]/". It is for
// typed text alone; what comes from a document is a reference to be resolved. A
// wrapper is taken off first, see [Unwrap].
//
// Text with a scheme is parsed as it is, by [ParseZone], and guessed is false. To
// other text "://" and a scheme are put in front: the given one, or if that is ""
// the one that the first label of the host names (ftp, gopher, imap, nntp,
// telnet, wais), or else http. An absolute path becomes a file URI. Then guessed is
// true, and whoever typed should be told what was made of it.
//
// Two forms can be read both ways. "host:80/x", a word and a number that can be a
// port, is a host unless the word is a scheme that everybody knows, as in
// "tel:555". And "a:b@c", scheme or login, is an error unless a is such a scheme,
// as in "mailto:b@c": one of a and c would become a host that the person may not
// have meant (CVE-2024-10524). So is any "@" without a scheme, and "//host". A
// caller that has schemes of its own asks [ParseZone] before Guess.
func Guess(text, scheme string) (u URI, guessed bool, err error) {
	bare := Unwrap(text)
	u, guessed, err = guess(bare, scheme)
	if e, ok := err.(*Error); ok {
		e.Offset += max(0, strings.Index(text, bare))
	}
	return u, guessed, err
}

func guess(text, scheme string) (u URI, guessed bool, err error) {
	switch {
	case text == "":
		return URI{}, false, &Error{0, "nothing there"}
	case strings.HasPrefix(text, "//"):
		return URI{}, false, &Error{0, "a reference without a scheme needs a base"}
	case text[0] == '/':
		u, err = Parse("file://" + Escape(text, Path))
		return u, err == nil, err
	}
	full, err := hasScheme(text)
	if err != nil {
		return URI{}, false, err
	}
	if full {
		u, err = ParseZone(text)
		return u, false, err
	}
	return guessHost(text, scheme)
}

// guessHost puts a scheme in front of text, which begins with a host.
func guessHost(text, scheme string) (u URI, guessed bool, err error) {
	if n := missingColon(text); n > 0 {
		return URI{}, false, &Error{n, "missing colon between scheme and slash"}
	}
	if at := strings.IndexByte(authorityOf(text), '@'); at >= 0 {
		return URI{}, false, &Error{at, "at sign without a scheme"}
	}
	if scheme == "" {
		scheme = schemeOf(text)
	}
	if run(scheme, 0, schemeChars) != len(scheme) || !alpha.Has(scheme[0]) {
		return URI{}, false, &Error{0, "default scheme is none"}
	}
	u, err = ParseZone(scheme + "://" + text)
	if e, ok := err.(*Error); ok {
		e.Offset -= len(scheme) + len("://")
		return URI{}, false, e
	}
	if !isHostName(u) {
		return URI{}, false, &Error{0, "neither a scheme nor a host"}
	}
	return u, true, nil
}

// hasScheme reports whether text, which is not empty, begins with a scheme, and
// not with a host and its port. It is an error if it may be a login.
func hasScheme(text string) (bool, error) {
	n := run(text, 0, schemeChars)
	if n == 0 || n == len(text) || text[n] != ':' || !alpha.Has(text[0]) {
		return false, nil
	}
	rest := text[n+1:]
	if known(text[:n]) || strings.HasPrefix(rest, "//") {
		return true, nil
	}
	front := authorityOf(rest)
	if strings.IndexByte(front, '@') >= 0 {
		return false, &Error{n, "a scheme, or a login without one"}
	}
	port, err := strconv.ParseUint(front, 10, 16)
	return err != nil || port == 0 || len(front) > len("65535"), nil
}

// missingColon returns the offset of the slash in text such as
// "http//user:password@host", or 0. Without the error the password would be the
// path of a host that is named "http".
func missingColon(text string) int {
	word := authorityOf(text)
	rest := strings.TrimLeft(text[len(word):], "/")
	slashes := len(text) - len(word) - len(rest)
	login := strings.IndexByte(authorityOf(rest), '@') >= 0
	switch {
	case slashes > 1 && (login || !strings.ContainsAny(word, ".:")),
		slashes == 1 && login && known(word):
		return len(word)
	}
	return 0
}

// authorityOf returns what of text stands before path, query and fragment.
func authorityOf(text string) string {
	if n := strings.IndexAny(text, "/?#"); n >= 0 {
		return text[:n]
	}
	return text
}

// schemeOf returns the scheme that the first label of a host names.
func schemeOf(text string) string {
	switch first, _, dotted := strings.Cut(authorityOf(text), "."); strings.ToLower(first) {
	case "ftp", "gopher", "imap", "nntp", "telnet", "wais":
		if dotted {
			return strings.ToLower(first)
		}
	}
	return "http"
}

// isHostName reports whether the host of u is an address or a name as DNS knows
// them, or one that holds percent-encoded bytes outside ASCII.
func isHostName(u URI) bool {
	if u.kind != RegName {
		return u.kind == IPv4 || u.kind == IPv6
	}
	host := u.Host()
	for i := 0; i < len(host); i++ {
		switch c := host[i]; {
		case c == '%' && host[i+1] >= '8': // the first digit of such a byte
			i += 2
		case c != '_' && c != '-' && c != '.' && !(alpha | digit).Has(c):
			return false
		}
	}
	return host[0] != '.'
}
