package telnet

import (
	"net"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/wire/reservedport"
)

// An urgentHandler is a function that is called for each byte of TCP urgent
// data.
type urgentHandler = func(byte)

// requireReservedPort returns an error unless the local port of the connection
// is below 1024. rlogin servers close connections from other ports without an
// error message. Connections through a proxy are rejected too, because the
// server sees the port of the proxy.
func requireReservedPort(netConn net.Conn) error {
	a, ok := netConn.LocalAddr().(*net.TCPAddr)
	if ok && a.Port >= reservedport.First && a.Port <= reservedport.Last && fetch.PeerOf(netConn).IsValid() {
		return nil
	}
	return fetch.BadPort.With(&fetch.Refusal{
		Rule: "rlogin requires a direct connection from a local port in the range 512 to 1023",
	})
}
