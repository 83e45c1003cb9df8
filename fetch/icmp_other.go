//go:build !linux

package fetch

import "net"

func reportRefusals(*net.UDPConn, bool) {}
