package z3950

import (
	"io"
	"net"
	"runtime"
	"strings"
	"testing"

	"github.com/anyurl/fetch/internal/wire/ber"
	"github.com/anyurl/fetch/internal/wire/z3950/apdu"
	"github.com/anyurl/fetch/schemes/internal/sessions"
)

// TestLargeMessages receives many messages of almost the maximum size. They must
// not be garbage, because the memory of the command would reach a multiple of
// their size.
func TestLargeMessages(t *testing.T) {
	const messages, limit = 20, 40 << 20
	const searchResponse = 23
	large := ber.Group(searchResponse, ber.Number(23, 5), ber.String(9, strings.Repeat("\x1b", 8<<20)))
	client, server := net.Pipe()
	defer client.Close()
	go io.Copy(io.Discard, server)
	go func() {
		defer server.Close()
		for range messages {
			server.Write(large)
		}
	}()
	s := newSession(sessions.NewConn(client, nil, ""))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range messages {
		p, err := s.roundTrip([]byte("request"), nil)
		if found, ok := p.(*apdu.SearchResponse); err != nil || !ok || found.Count != 5 {
			t.Fatalf("got %+v, %v", p, err)
		}
	}
	if runtime.ReadMemStats(&after); after.TotalAlloc-before.TotalAlloc > limit {
		t.Errorf("%d MiB for %d messages of 8 MiB", (after.TotalAlloc-before.TotalAlloc)>>20, messages)
	}
	if s.Release(); s.buf != nil {
		t.Error("the idle session keeps the buffer")
	}
}
