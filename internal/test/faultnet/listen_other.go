//go:build !linux

package faultnet

import (
	"errors"
	"net/netip"
)

func deafSocket(bool) (netip.AddrPort, func(), error) {
	return netip.AddrPort{}, nil, errors.ErrUnsupported
}
