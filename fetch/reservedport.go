package fetch

import (
	"context"
	"errors"
	"net"
	"syscall"

	"github.com/anyurl/fetch/internal/wire/reservedport"
)

// dialReserved connects to an address from the highest reserved local port that
// is free. Servers such as rlogin trust only clients that use such a port.
func dialReserved(
	ctx context.Context, d net.Dialer, network, to string, wrap reservedport.Wrapper,
) (net.Conn, error) {
	for port := reservedport.Last; port >= reservedport.First; port-- {
		local := &net.TCPAddr{Port: port}
		if a, ok := d.LocalAddr.(*net.TCPAddr); ok {
			local.IP, local.Zone = a.IP, a.Zone
		}
		d.LocalAddr = local
		c, err := d.DialContext(ctx, network, to)
		switch {
		case errors.Is(err, syscall.EADDRINUSE), errors.Is(err, syscall.EADDRNOTAVAIL):
			continue
		case errors.Is(err, syscall.EACCES):
			return nil, errNotReserved()
		}
		if t, ok := c.(*net.TCPConn); ok {
			return wrap(t), nil
		}
		return c, err
	}
	return nil, errNotReserved()
}

func errNotReserved() error {
	return BadPort.With(&Refusal{Rule: "the server requires a local port from 512 to 1023, which this process cannot bind"})
}
