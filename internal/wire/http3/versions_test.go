package http3

import (
	"bytes"
	"crypto/tls"
	"net"
	"testing"
)

// TestVersions checks that the error for a server without version 1 of QUIC does not
// contain the versions that the server lists.
func TestVersions(t *testing.T) {
	server, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	go func() {
		b := make([]byte, 2048)
		n, client, err := server.ReadFrom(b)
		if err != nil || n < 50 {
			return
		}
		to, rest := b[6:6+b[5]], b[6+b[5]:]
		from := rest[1 : 1+rest[0]]
		answer := append([]byte{0x80, 0, 0, 0, 0, byte(len(from))}, from...) // RFC 9000 section 17.2.1
		answer = append(append(answer, byte(len(to))), to...)
		server.WriteTo(append(answer, bytes.Repeat([]byte("abcd"), 300)...), client)
	}()
	socket, err := net.Dial("udp", server.LocalAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	_, err = Handshake(t.Context(), socket, &tls.Config{ServerName: "h.test"})
	if err == nil || len(err.Error()) > 100 {
		t.Errorf("got %v", err)
	}
}
