package ftp

import (
	"context"
	"net"
	"strconv"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/wire/line"
)

// connect opens a data connection to the port in an EPSV or PASV reply.
func (d *driver) connect(ctx context.Context, s *session, verb string, r line.Reply) (net.Conn, error) {
	port, err := parsePassive(r)
	if err != nil {
		return nil, err
	}
	if port == 0 {
		if s.IsBroken() {
			return nil, refused(verb, r)
		}
		return nil, &unknown{verb, r}
	}
	return d.env.Net.DialPeer(ctx, s.NetConn, port)
}

// parsePassive returns the port in an EPSV or PASV reply, or zero if the reply
// is negative. It ignores the address in a 227 reply, because data is accepted
// only from the host of the control connection.
func parsePassive(r line.Reply) (uint16, error) {
	text := r.Lines[len(r.Lines)-1]
	switch r.Code {
	case 229:
		return parseEPSV(text)
	case 227:
		return parsePASV(text)
	}
	return 0, nil
}

// parseEPSV parses the port in "(|||port|)", where "|" may be any character
// (RFC 2428 3).
func parseEPSV(text string) (uint16, error) {
	for i := range len(text) {
		if text[i] != '(' {
			continue
		}
		inner := text[i+1 : min(i+20, len(text))]
		if len(inner) < 5 || inner[0] <= ' ' || inner[0] > '~' || inner[1] != inner[0] || inner[2] != inner[0] {
			continue
		}
		number, rest, ok := strings.Cut(inner[3:], inner[:1])
		port, err := strconv.ParseUint(number, 10, 16)
		if ok && err == nil && port > 0 && strings.HasPrefix(rest, ")") {
			return uint16(port), nil
		}
	}
	return 0, fetch.Protocol.Errorf("EPSV: no port in 229 %s", sentence(line.Reply{Lines: []string{text}}))
}

// parsePASV parses the six decimal numbers h1,h2,h3,h4,p1,p2 at any position in
// a reply (RFC 1123 4.1.2.6).
func parsePASV(text string) (uint16, error) {
	for i := 0; i < len(text); i++ {
		if !isDigit(text[i]) {
			continue
		}
		end := i
		for end < len(text) && (isDigit(text[end]) || text[end] == ',') {
			end++
		}
		if port, ok := sixNumbers(text[i:end]); ok {
			return port, nil
		}
		i = end
	}
	return 0, fetch.Protocol.Errorf("PASV: no address in 227 %s", sentence(line.Reply{Lines: []string{text}}))
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func sixNumbers(text string) (port uint16, ok bool) {
	parts := strings.Split(text, ",")
	if len(parts) != 6 {
		return 0, false
	}
	for _, p := range parts {
		n, err := strconv.ParseUint(p, 10, 8)
		if err != nil {
			return 0, false
		}
		port = port<<8 | uint16(n)
	}
	return port, port != 0
}
