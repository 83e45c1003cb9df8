package telnet

import (
	"net"

	"github.com/anyurl/fetch/fetch"
)

// urgent hears each byte of urgent data, as far as the system shows it.
type urgent = func(byte)

// isReserved refuses a connection from a port that anybody may have: servers
// hang up on it without a word. Through a proxy they see the proxy's.
func isReserved(door net.Conn) error {
	a, ok := door.LocalAddr().(*net.TCPAddr)
	if ok && a.Port >= fetch.FirstReserved && a.Port <= fetch.LastReserved && fetch.PeerOf(door).IsValid() {
		return nil
	}
	return fetch.BadPort.With(&fetch.Refusal{Rule: "rlogin needs a connection from a port of ours from 512 to 1023, and this one is not"})
}
