package uri

import "strings"

// defaultPorts lists the default ports of well-known schemes. [URI.Normalize]
// needs the table, because archives store normalized URIs as keys, which must
// not depend on the schemes of the program that reads the archive.
var defaultPorts = map[string]uint16{
	"http": 80, "https": 443, "ws": 80, "wss": 443, "ftp": 21, "ftps": 990, "tftp": 69,
	"ssh": 22, "sftp": 22, "scp": 22, "nfs": 2049, "prospero": 1525,
	"gopher": 70, "gophers": 70, "gemini": 1965, "spartan": 300,
	"news": 119, "nntp": 119, "snews": 563, "nntps": 563,
	"imap": 143, "imaps": 993, "pop": 110, "pops": 995, "pop3": 110, "pop3s": 995,
	"telnet": 23, "tn3270": 23, "rlogin": 513, "finger": 79,
	"ldap": 389, "ldaps": 636, "wais": 210, "z39.50r": 210, "z39.50s": 210,
	"whois": 43, "whois++": 63, "dict": 2628,
	"s3": 443, "ipfs": 443, "rsync": 873, "smb": 445, "dav": 80, "davs": 443,
}

// DefaultPort returns the default port of a scheme, such as 80 for "http". It
// returns false for an unknown scheme, and for a scheme without a default port.
// The scheme must be in lower case.
func DefaultPort(scheme string) (uint16, bool) {
	port, ok := defaultPorts[scheme]
	return port, ok
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
	_, ok := defaultPorts[scheme]
	return ok
}

const maxCommonScheme = len("mailserver")
