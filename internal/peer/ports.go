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

// Servers take their ports from blocks in a range below the one that Linux
// hands out by itself (32768 and up), so that no ":0" listener and no outgoing
// connection ever takes one, and without a port that a client may refuse
// because a known service owns it.
const (
	firstPort = 20000
	blocks    = 170
	blockSize = 32
)

// host is where all servers listen.
const host = "127.0.0.1"

// reserve returns the first of blockSize ports that no other server of this
// package has, in any process, until the Closer is closed, and where nobody
// listened a moment ago.
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

// port returns the port of a host:port that this package made, 0 for "".
func port(addr string) uint16 {
	if addr == "" {
		return 0
	}
	return netip.MustParseAddrPort(addr).Port()
}
