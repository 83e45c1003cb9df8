package uri

import "strings"

// DefaultPort returns the port of a scheme, given in lower case, that is meant
// when a URI names none.
func DefaultPort(scheme string) (uint16, bool) {
	switch scheme {
	case "http", "ws":
		return 80, true
	case "https", "wss":
		return 443, true
	case "ftp":
		return 21, true
	case "ftps":
		return 990, true
	case "gopher", "gophers":
		return 70, true
	case "news", "nntp":
		return 119, true
	case "snews", "nntps":
		return 563, true
	case "telnet", "tn3270":
		return 23, true
	case "rlogin":
		return 513, true
	case "wais":
		return 210, true
	case "imap":
		return 143, true
	case "imaps":
		return 993, true
	case "prospero":
		return 1525, true
	case "ldap":
		return 389, true
	case "ssh", "sftp":
		return 22, true
	}
	return 0, false
}

// known reports whether scheme, in any case, is one that stands before ":" on its
// own account and not as the name of a host or a word of a sentence.
func known(scheme string) bool {
	if len(scheme) > maxKnown {
		return false
	}
	scheme = strings.ToLower(scheme)
	switch scheme {
	case "file", "mailto", "mid", "cid", "urn", "data", "tel", "sip", "sips", "xmpp":
		return true
	}
	_, ok := DefaultPort(scheme)
	return ok
}

const maxKnown = len("prospero")
