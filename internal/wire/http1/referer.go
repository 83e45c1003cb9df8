package http1

import (
	"strings"

	"github.com/anyurl/fetch/uri"
)

// Referer returns the value of a Referer field without userinfo and fragment
// (RFC 9110 section 10.1.3). It returns false for a value with an at sign that is not
// an absolute URL with a host. Such a value may contain a password.
func Referer(value string) (string, bool) {
	value, _, _ = strings.Cut(value, "#")
	ref, err := uri.ParseReference(value)
	if err != nil {
		return value, !strings.Contains(value, "@")
	}
	bare := ref.WithoutUserinfo()
	sent := bare.Unredacted()
	if strings.Contains(value, "@") && (bare.Scheme() == "" || bare.Host() == "") {
		return sent, false
	}
	return sent, bare.String() == sent // otherwise the value has a malformed login
}
