package ftp

import (
	"context"
	"net"
	"net/netip"
	"strconv"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/wire/line"
)

// listen opens a listener for a data connection and sends its address to the
// server. The command verb is EPRT, or PORT over IPv4 (RFC 2428 2, RFC 959
// 4.1.2).
func (d *driver) listen(ctx context.Context, s *session, verb string) (net.Listener, error) {
	l, err := d.env.Net.ListenPeer(ctx, s.NetConn)
	if err != nil {
		return nil, err
	}
	r, err := d.announce(s, verb, l)
	if err != nil {
		l.Close()
		return nil, err
	}
	if r.Code/100 != 2 {
		l.Close()
		if !isNo(r) {
			return nil, refused(verb, r)
		}
		return nil, &unknown{verb, r}
	}
	return l, nil
}

func (d *driver) announce(s *session, verb string, l net.Listener) (line.Reply, error) {
	at, err := netip.ParseAddrPort(l.Addr().String())
	if err != nil {
		return line.Reply{}, fetch.Unsupported.Errorf("no local address for an active data connection")
	}
	a := at.Addr().WithZone("").Unmap()
	if d.Active != "-" && d.Active != a.String() {
		// With any other address, the server would connect to a third party.
		s.Trace().Notef("%s is not the local address of this connection: %s is used", d.Active, a)
	}
	if verb == "PORT" {
		host := strings.ReplaceAll(a.String(), ".", ",")
		return s.command(verb, host+","+strconv.Itoa(int(at.Port()>>8))+","+strconv.Itoa(int(at.Port()&0xff)))
	}
	family := "1"
	if a.Is6() {
		family = "2"
	}
	return s.command(verb, "|"+family+"|"+a.String()+"|"+strconv.Itoa(int(at.Port()))+"|")
}
