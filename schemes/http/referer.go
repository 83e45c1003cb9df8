package http

import (
	"strings"

	"github.com/anyurl/fetch/uri"
)

// referer returns the value of a Referer field without userinfo and fragment
// (RFC 9110 10.1.3). It returns false for a value that may contain a login but
// cannot be parsed.
func referer(value string) (string, bool) {
	value, _, _ = strings.Cut(value, "#")
	ref, err := uri.ParseReference(value)
	if err != nil {
		return value, !strings.Contains(value, "@")
	}
	bare := ref.WithoutUserinfo()
	return bare.Unredacted(), bare.String() == bare.Unredacted() // else a mistyped login
}
