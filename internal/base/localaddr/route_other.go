//go:build !linux

package localaddr

import (
	"errors"
	"net/netip"
)

// isRouted returns an error, because it is implemented for Linux only.
func isRouted(netip.Addr) (bool, error) { return false, errors.ErrUnsupported }
