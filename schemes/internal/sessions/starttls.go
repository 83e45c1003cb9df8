package sessions

import (
	"cmp"

	"github.com/anyurl/fetch/fetch/scheme"
)

// StartsTLS reports whether a driver upgrades a plaintext connection to TLS, for
// example by STARTTLS. The argument usual is the default mode of the scheme.
// The argument offered reports whether the server offers the upgrade, or is true
// if a server does not announce it.
func StartsTLS(mode, usual scheme.TLSMode, offered bool) bool {
	switch cmp.Or(mode, usual) {
	case scheme.TLSRequired:
		return true
	case scheme.TLSWanted:
		return offered
	}
	return false
}
