package http1

import "strings"

// IsSecretField reports whether a header field may contain a secret, such as
// Authorization or Cookie. A Client sends such fields only to the first origin.
// The values of such fields are never printed.
func IsSecretField(name string) bool {
	name = strings.ToLower(name)
	for _, word := range []string{"auth", "cookie", "token", "secret", "key", "session", "passw", "pwd", "credential", "signature", "csrf", "xsrf", "jwt", "assertion", "dpop"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}
