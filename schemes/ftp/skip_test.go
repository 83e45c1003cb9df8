package ftp

import (
	"io"
	"net"
	"testing"
)

// TestSkipped discards the bytes before a range, and counts them for the limits of
// the Client.
func TestSkipped(t *testing.T) {
	client, server := net.Pipe()
	defer client.Close()
	go func() {
		io.WriteString(server, "0123456789")
		server.Close()
	}()
	b := &body{data: &transfer{Conn: client, skip: 7}}
	if err := b.skip(); err != nil || b.Skipped() != 7 || b.data.skip != 0 {
		t.Errorf("%d bytes, %d left: %v", b.Skipped(), b.data.skip, err)
	}
}
