//go:build !unix || aix

package telnet

import "net"

// withUrgent returns c, because urgent data are not supported on this system.
func withUrgent(c *net.TCPConn, _ urgentHandler) net.Conn { return c }
