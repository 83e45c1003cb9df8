package peer

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/netip"
	"strconv"
)

// The ports of all servers are below the range of ephemeral ports (32768 and up).
// No outgoing connection and no ":0" listener thus uses one of these ports. The
// range contains no port of a well-known service, because clients may block such
// a port.
const (
	firstPort = 20000
	blocks    = 170
	blockSize = 32
)

// host is the address of all servers.
const host = "127.0.0.1"

// reserve reserves a block of blockSize free ports and returns the first port.
// Other processes that use this package do not use these ports until the Closer
// is closed.
func reserve() (base uint16, held io.Closer, err error) {
	for _, i := range rand.Perm(blocks) {
		base = uint16(firstPort + i*blockSize)
		if held, err = lock(fmt.Sprintf("fetch-peer-%d", base)); err != nil {
			continue
		}
		if err = free(base); err == nil {
			return base, held, nil
		}
		held.Close()
	}
	return 0, nil, fmt.Errorf("no free ports: %w", err)
}

func free(base uint16) error {
	var errs []error
	for port := base; port < base+blockSize; port++ {
		ln, err := net.Listen("tcp4", addr(port))
		if err == nil {
			err = ln.Close()
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func addr(port uint16) string { return net.JoinHostPort(host, strconv.Itoa(int(port))) }

// port returns the port of addr, or 0 if addr is empty.
func port(addr string) uint16 {
	if addr == "" {
		return 0
	}
	return netip.MustParseAddrPort(addr).Port()
}
