package proxy

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"

	"github.com/anyurl/fetch/internal/wire/httpauth"
)

const (
	socks5 = 5

	// These are the SOCKS5 authentication methods (RFC 1928 3).
	methodNone     = 0
	methodLogin    = 2
	methodRejected = 0xff

	loginVersion = 1 // RFC 1929 2

	// These are the SOCKS5 address types (RFC 1928 5).
	typeIPv4 = 1
	typeName = 3
	typeIPv6 = 4
)

// connectSOCKS5 performs a SOCKS5 handshake. It sends host names to the proxy
// without resolving them.
func connectSOCKS5(conn net.Conn, to destination, opts Options) error {
	user, password := opts.Login.User, opts.Login.Password
	if len(user) > 255 || len(password) > 255 {
		return fmt.Errorf("%w: user or password is longer than 255 bytes", ErrOption)
	}
	hello := []byte{socks5, 1, methodNone}
	if user != "" {
		hello = []byte{socks5, 2, methodNone, methodLogin}
	}
	method, err := exchange(conn, hello, socks5)
	switch {
	case err != nil:
		return err
	case method == methodRejected:
		return &AuthRequiredError{}
	case method == methodLogin && user != "":
		err = sendLogin(conn, opts.Login)
	case method != methodNone:
		err = fmt.Errorf("%w: authentication method was not offered", ErrMalformed)
	}
	if err != nil {
		return err
	}
	code, err := exchange(conn, socks5Request(to), socks5)
	if err != nil {
		return err
	}
	if code != 0 {
		return &RefusedError{"socks5", int(code)}
	}
	return skipBoundAddress(conn)
}

func sendLogin(conn net.Conn, l httpauth.Login) error {
	request := append([]byte{loginVersion, byte(len(l.User))}, l.User...)
	request = append(append(request, byte(len(l.Password))), l.Password...)
	code, err := exchange(conn, request, loginVersion)
	if err == nil && code != 0 {
		return &AuthRequiredError{Tried: true}
	}
	return err
}

func socks5Request(to destination) []byte {
	request := []byte{socks5, 1, 0}
	switch {
	case to.addr.Is4():
		request = append(append(request, typeIPv4), to.addr.AsSlice()...)
	case to.addr.Is6():
		request = append(append(request, typeIPv6), to.addr.AsSlice()...)
	default:
		request = append(append(request, typeName, byte(len(to.name))), to.name...)
	}
	return binary.BigEndian.AppendUint16(request, to.port)
}

// exchange sends a SOCKS5 message and reads the first two bytes of the reply.
// It checks the protocol version in the first byte and returns the second byte.
func exchange(conn net.Conn, message []byte, version byte) (byte, error) {
	if _, err := conn.Write(message); err != nil {
		return 0, err
	}
	var reply [2]byte
	if _, err := io.ReadFull(conn, reply[:]); err != nil {
		return 0, closedError(err)
	}
	if reply[0] != version {
		return 0, fmt.Errorf("%w: wrong SOCKS5 version", ErrMalformed)
	}
	return reply[1], nil
}

// skipBoundAddress reads and discards the address and port at the end of the
// reply to the CONNECT command.
func skipBoundAddress(conn net.Conn) error {
	var b [255 + 2]byte
	if _, err := io.ReadFull(conn, b[:2]); err != nil { // reserved byte and address type
		return closedError(err)
	}
	n := 0
	switch b[1] {
	case typeIPv4:
		n = net.IPv4len
	case typeIPv6:
		n = net.IPv6len
	case typeName:
		if _, err := io.ReadFull(conn, b[:1]); err != nil {
			return closedError(err)
		}
		n = int(b[0])
	default:
		return fmt.Errorf("%w: unknown address type", ErrMalformed)
	}
	_, err := io.ReadFull(conn, b[:n+2]) // address and port
	return closedError(err)
}
