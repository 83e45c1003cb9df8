package telnet

import (
	"net"

	"github.com/anyurl/fetch/fetch"
)

// The ports of our own from which a server of rlogin takes our word for who we
// are (RFC 1282).
const (
	firstReserved = 512
	lastReserved  = 1023
)

// isReserved refuses a connection from a port that anybody may have: servers
// hang up on it without a word. Through a proxy they see the proxy's.
func isReserved(door net.Conn) error {
	a, ok := door.LocalAddr().(*net.TCPAddr)
	if ok && a.Port >= firstReserved && a.Port <= lastReserved && fetch.PeerOf(door).IsValid() {
		return nil
	}
	return fetch.BadPort.With(&fetch.Refusal{Rule: "rlogin needs a connection from a port of ours from 512 to 1023, and this one is not"})
}
