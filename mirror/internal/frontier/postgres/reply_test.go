package postgres

import (
	"io"
	"net"
	"sync"
	"testing"
)

// TestConcurrentReads reads a reply in two goroutines, as pgx does while it closes a
// connection.
func TestConcurrentReads(t *testing.T) {
	const messages = 1000
	server, client := net.Pipe()
	r := &replyReader{Conn: client}
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			if _, err := io.Copy(io.Discard, r); err != nil {
				t.Error(err)
			}
		})
	}
	row := []byte{'D', 0, 0, 0, 6, 0, 0}
	for range messages {
		server.Write(row)
	}
	server.Close()
	readers.Wait()
	if want := int64(messages * len(row)); r.reply != want || r.err != nil {
		t.Errorf("%d bytes, want %d; %v", r.reply, want, r.err)
	}
}
