package ldap

import (
	"bytes"
	"net"
	"runtime"
	"testing"

	"github.com/anyurl/fetch/internal/wire/ber"
	"github.com/anyurl/fetch/schemes/internal/sessions"
)

// TestLargeMessages receives many messages of almost the maximum size. They must
// not be garbage, because the memory of the command would reach a multiple of
// their size.
func TestLargeMessages(t *testing.T) {
	const messages, limit = 20, 40 << 20
	large := octets(string(bytes.Repeat([]byte{0x1b}, 9<<20)))
	for name, op := range map[string][]byte{
		"entry":     operation(opEntry, octets("dc=x"), ber.SequenceOf(ber.SequenceOf(octets("a"), ber.Group(17, large)))),
		"reference": operation(opReference, large),
	} {
		t.Run(name, func(t *testing.T) {
			client, server := net.Pipe()
			defer client.Close()
			encoded := encode(1, op, nil)
			go func() {
				defer server.Close()
				for range messages {
					server.Write(encoded)
				}
			}()
			s := newSession(sessions.NewConn(client, nil, ""))
			s.id = 1
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			for range messages {
				m, err := s.receive()
				if err == nil && m.op.Tag == opReference {
					_, err = parseURLs(m.op)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			if runtime.ReadMemStats(&after); after.TotalAlloc-before.TotalAlloc > limit {
				t.Errorf("%d MiB for %d messages of 9 MiB", (after.TotalAlloc-before.TotalAlloc)>>20, messages)
			}
			if s.Release(); s.buf != nil {
				t.Error("the idle session keeps the buffer")
			}
		})
	}
}
