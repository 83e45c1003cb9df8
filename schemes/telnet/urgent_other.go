//go:build !unix || aix

package telnet

import "net"

// withUrgent returns c without changes, because urgent data is not supported on
// this system.
func withUrgent(c *net.TCPConn, _ urgentHandler) net.Conn { return c }
