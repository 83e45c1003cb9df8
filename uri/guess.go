package uri

import (
	"strconv"
	"strings"
)

// Guess parses a URI that a user entered, possibly without a scheme. Examples
// are "www.w3.org/Addressing/", "localhost:8080/x" and "[::1]/". Do not use
// Guess for links in documents. Use [ParseReference] and [URI.Resolve] for
// them. Guess first removes brackets, quotes and labels with [Unwrap].
//
// If text has a scheme, Guess parses it with [ParseZone] and guessed is false.
// Otherwise guessed is true, and the caller should show the resulting URI to the
// user. An absolute path becomes a file URI. Other text is parsed after the
// given scheme and "://". If scheme is "", Guess uses the first label of the
// host if the label is ftp, gopher, imap, nntp, telnet or wais. Otherwise it
// uses "http".
//
// Guess resolves or rejects ambiguous text by these rules:
//
//   - "word:80/x" is a host and a port, unless the word is a well-known scheme,
//     as in "tel:555".
//   - "a:b@c" is an error, unless a is a well-known scheme, as in "mailto:b@c".
//     Otherwise Guess could connect to a host that the user did not mean
//     (CVE-2024-10524).
//   - Text without a scheme that contains "@" before the path is an error.
//   - Text that starts with "//" is an error.
//
// The error is an [*Error]. A caller that supports additional schemes should
// try [ParseZone] before calling Guess.
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
		return URI{}, false, &Error{0, "empty reference"}
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

// guessHost adds a scheme to text, which starts with a host, and parses the
// result.
func guessHost(text, scheme string) (u URI, guessed bool, err error) {
	if n := missingColon(text); n > 0 {
		return URI{}, false, &Error{n, "missing colon between scheme and slash"}
	}
	if at := strings.IndexByte(authorityOf(text), '@'); at >= 0 {
		return URI{}, false, &Error{at, "at sign without a scheme"}
	}
	if scheme == "" {
		scheme = hostLabelScheme(text)
	}
	if spanRaw(scheme, 0, schemeChars) != len(scheme) || !alpha.Has(scheme[0]) {
		return URI{}, false, &Error{0, "invalid default scheme"}
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

// hasScheme reports whether text starts with a scheme. It returns false for a
// host and a port, such as "localhost:8080". It returns an error for text such
// as "a:b@c", which may also be a user name and a password. text must not be
// empty.
func hasScheme(text string) (bool, error) {
	n := spanRaw(text, 0, schemeChars)
	if n == 0 || n == len(text) || text[n] != ':' || !alpha.Has(text[0]) {
		return false, nil
	}
	rest := text[n+1:]
	if isCommonScheme(text[:n]) || strings.HasPrefix(rest, "//") {
		return true, nil
	}
	front := authorityOf(rest)
	if strings.IndexByte(front, '@') >= 0 {
		return false, &Error{n, "ambiguous: a scheme or a user name"}
	}
	port, err := strconv.ParseUint(front, 10, 16)
	return err != nil || port == 0 || len(front) > len("65535"), nil
}

// missingColon detects text such as "http//user:password@host" and returns the
// offset of its first slash. It returns 0 if no colon is missing. Without this
// check, Guess would send the password to a host named "http".
func missingColon(text string) int {
	word := authorityOf(text)
	rest := strings.TrimLeft(text[len(word):], "/")
	slashes := len(text) - len(word) - len(rest)
	login := strings.IndexByte(authorityOf(rest), '@') >= 0
	switch {
	case slashes > 1 && (login || !strings.ContainsAny(word, ".:")),
		slashes == 1 && login && isCommonScheme(word):
		return len(word)
	}
	return 0
}

// authorityOf returns the part of text before the first "/", "?" or "#".
func authorityOf(text string) string {
	if n := strings.IndexAny(text, "/?#"); n >= 0 {
		return text[:n]
	}
	return text
}

// hostLabelScheme derives a scheme from the first label of the host in text.
// For example, it returns "ftp" for "ftp.example.org". The default is "http".
func hostLabelScheme(text string) string {
	switch first, _, dotted := strings.Cut(authorityOf(text), "."); strings.ToLower(first) {
	case "ftp", "gopher", "imap", "nntp", "telnet", "wais":
		if dotted {
			return strings.ToLower(first)
		}
	}
	return "http"
}

// isHostName reports whether the host of u is an IP address or a DNS name. A
// DNS name may contain percent-encoded non-ASCII characters.
func isHostName(u URI) bool {
	if u.kind != RegName {
		return u.kind == IPv4 || u.kind == IPv6
	}
	host := u.Host()
	for i := 0; i < len(host); i++ {
		switch c := host[i]; {
		case c == '%' && host[i+1] >= '8': // a byte of 0x80 or more
			i += 2
		case c != '_' && c != '-' && c != '.' && !(alpha | digit).Has(c):
			return false
		}
	}
	return host[0] != '.'
}
