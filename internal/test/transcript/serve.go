package transcript

import (
	"bytes"
	"fmt"
	"maps"
	"slices"

	"github.com/anyurl/fetch/internal/test/faultnet"
)

// A server replays the conversations of one port.
type server struct {
	*faultnet.Server
	conversations []Conversation // without refused connections
	data          bool
}

// serve starts a server for each port that the transcript uses.
func (f *file) serve(n *faultnet.Network) (all []server) {
	for _, data := range []bool{true, false} {
		ports := f.talks
		if data {
			ports = f.data
		}
		for _, port := range slices.Sorted(maps.Keys(ports)) {
			var scripts []faultnet.Script
			for _, c := range ports[port] {
				if !data {
					c.Script = append(c.Script, untilClosed())
				}
				scripts = append(scripts, c.Script)
			}
			s := n.Serve(fmt.Sprintf("%s:%d", Server, port), scripts...)
			made := slices.DeleteFunc(slices.Clone(ports[port]), func(c Conversation) bool { return c.refused })
			all = append(all, server{s, made, data})
		}
	}
	return all
}

// check returns an error for each connection on which the client did not send
// the expected bytes. A data server may have fewer connections than
// conversations.
func (s server) check(goodbye string) (errs []error) {
	if err := s.Err(); err != nil {
		errs = append(errs, fmt.Errorf("port %d: %w", s.Addr().Port(), err))
	}
	conns := s.Conns()
	if n := len(conns); n != len(s.conversations) && !s.data {
		errs = append(errs, fmt.Errorf("port %d: %d connections, want %d", s.Addr().Port(), n, len(s.conversations)))
	}
	for i, conn := range conns {
		talk := s.conversations[min(i, len(s.conversations)-1)]
		got := conn.Sent()
		if at := bytes.Index(got, []byte("\x16\x03")); talk.tls && at >= 0 {
			got = got[:at] // ignore the TLS handshake, which failed
		}
		got = bytes.TrimSuffix(got, []byte(goodbye))
		if string(got) != talk.Sent {
			errs = append(errs, fmt.Errorf("port %d, connection %d\nsent %q\nwant %q", s.Addr().Port(), i+1, got, talk.Sent))
		}
	}
	return errs
}
