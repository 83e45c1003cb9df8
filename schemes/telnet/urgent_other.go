//go:build !unix || aix

package telnet

import "net"

// withUrgent has no urgent data to tell.
func withUrgent(c *net.TCPConn, _ urgent) net.Conn { return c }
