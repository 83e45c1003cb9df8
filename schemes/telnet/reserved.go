package telnet

import (
	"net"

	"github.com/anyurl/fetch/fetch"
)

// An urgentHandler is called for each byte of urgent data that the operating
// system reports.
type urgentHandler = func(byte)

// requireReservedPort returns an error if the connection does not come from a
// reserved port. rlogin servers close connections from other ports without an
// error message. Connections through a proxy are rejected too, because the
// server sees the port of the proxy.
func requireReservedPort(netConn net.Conn) error {
	a, ok := netConn.LocalAddr().(*net.TCPAddr)
	if ok && a.Port >= fetch.FirstReservedPort && a.Port <= fetch.LastReservedPort && fetch.PeerOf(netConn).IsValid() {
		return nil
	}
	return fetch.BadPort.With(&fetch.Refusal{
		Rule: "rlogin requires a direct connection from a local port in the range 512 to 1023",
	})
}
