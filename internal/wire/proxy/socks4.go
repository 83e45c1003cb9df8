package proxy

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"strings"
)

// connectSOCKS4 performs a SOCKS4 handshake. For a host name it uses the
// SOCKS4a extension: the request contains the address 0.0.0.1, and the name
// follows the user ID.
func connectSOCKS4(conn net.Conn, to destination, opts Options) error {
	ip := [4]byte{0, 0, 0, 1}
	if to.addr.IsValid() {
		if !to.addr.Is4() {
			return fmt.Errorf("%w: SOCKS4 does not support IPv6", ErrTarget)
		}
		if ip = to.addr.As4(); ip[0]|ip[1]|ip[2] == 0 {
			return fmt.Errorf("%w: address is reserved by SOCKS4a", ErrTarget)
		}
	}
	if strings.ContainsRune(opts.Login.User, 0) || len(opts.Login.User) > 255 {
		return fmt.Errorf("%w: user has a NUL or is longer than 255 bytes", ErrOption)
	}
	request := binary.BigEndian.AppendUint16([]byte{4, 1}, to.port)
	request = append(request, ip[:]...)
	request = append(append(request, opts.Login.User...), 0)
	if !to.addr.IsValid() {
		request = append(append(request, to.name...), 0)
	}
	if _, err := conn.Write(request); err != nil {
		return err
	}
	var reply [8]byte
	if _, err := io.ReadFull(conn, reply[:]); err != nil {
		return closedError(err)
	}
	const granted = 90
	switch code := reply[1]; {
	case reply[0] != 0:
		return fmt.Errorf("%w: wrong SOCKS4 version", ErrMalformed)
	case code != granted:
		return &RefusedError{"socks4", int(code)}
	}
	return nil
}
