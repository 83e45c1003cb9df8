package fetch

import (
	"crypto/tls"
	"net"
	"testing"
	"time"

	"github.com/anyurl/fetch/internal/test/peer"
)

// TestIsQuiet checks that IsQuiet detects received data in the socket, in the
// buffers of TLS, and in a connection without a socket.
func TestIsQuiet(t *testing.T) {
	cert := peer.NewCert(t, peer.CertOptions{Hosts: []string{"h"}})
	for _, c := range []struct {
		name  string
		sent  string // in addition to the data that is read
		end   bool
		quiet bool
	}{
		{"nothing", "", false, true},
		{"a byte", "x", false, false},
		{"an answer", "HTTP/1.1 200 OK\r\n\r\n", false, false},
		{"the end", "", true, false},
		{"a byte and the end", "x", true, false},
	} {
		for _, way := range []string{"socket", "socket with a passed deadline", "TLS", "memory"} {
			t.Run(c.name+", "+way, func(t *testing.T) {
				near, far := sockets(t)
				if way == "memory" {
					near, far = net.Pipe()
				}
				defer near.Close()
				own := newConn(near, time.Minute)
				client, server := net.Conn(own), far
				if way == "TLS" {
					client = tls.Client(own, &tls.Config{RootCAs: cert.Pool, ServerName: "h"})
					server = tls.Server(far, &tls.Config{Certificates: []tls.Certificate{cert.TLS}, SessionTicketsDisabled: true})
				}
				ended := make(chan struct{})
				go func() {
					defer close(ended)
					server.Write([]byte("answer"))
					if c.sent != "" {
						server.Write([]byte(c.sent))
					}
					if c.end {
						server.Close()
					}
				}()
				if _, err := client.Read(make([]byte, 6)); err != nil {
					t.Fatal(err)
				}
				if way != "memory" || c.quiet {
					<-ended // on loopback, all written data has now arrived
				}
				if way == "socket with a passed deadline" {
					own.SetReadDeadline(time.Now().Add(-time.Second))
				}
				got := IsQuiet(client)
				for way == "memory" && got && !c.quiet && t.Context().Err() == nil {
					got = IsQuiet(client) // the other goroutine may not have written yet
				}
				if got != c.quiet {
					t.Errorf("got %t, want %t", got, c.quiet)
				}
				if c.quiet && !IsQuiet(client) {
					t.Error("the look itself disturbs")
				}
				near.Close()
				<-ended
				far.Close()
			})
		}
	}
}

// sockets returns both ends of a connection over loopback.
func sockets(t *testing.T) (near, far net.Conn) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if near, err = net.Dial("tcp", l.Addr().String()); err == nil {
		far, err = l.Accept()
	}
	if err != nil {
		t.Fatal(err)
	}
	return near, far
}
