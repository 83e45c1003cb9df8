package uri

import "strings"

// DefaultPort returns the default port of a scheme, such as 80 for "http". It
// returns false if the scheme has no default port. The scheme must be in lower
// case.
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
	case "ldaps":
		return 636, true
	case "ssh", "sftp", "scp":
		return 22, true
	case "gemini":
		return 1965, true
	case "spartan":
		return 300, true
	case "pop", "pop3":
		return 110, true
	case "pops", "pop3s":
		return 995, true
	case "finger":
		return 79, true
	case "whois":
		return 43, true
	case "whois++":
		return 63, true
	case "dict":
		return 2628, true
	case "tftp":
		return 69, true
	case "nfs":
		return 2049, true
	case "z39.50r", "z39.50s":
		return 210, true
	}
	return 0, false
}

// isCommonScheme reports whether scheme is the name of a well-known URI scheme,
// such as "mailto", in upper or lower case. Parsers treat such a word before
// ":" as a scheme, and not as a host name or the last word of a sentence.
func isCommonScheme(scheme string) bool {
	if len(scheme) > maxCommonScheme {
		return false
	}
	scheme = strings.ToLower(scheme)
	switch scheme {
	case "file", "afs", "mailto", "mailserver", "mid", "cid", "urn", "data", "tel", "sip", "sips", "xmpp":
		return true
	}
	_, ok := DefaultPort(scheme)
	return ok
}

const maxCommonScheme = len("mailserver")
