package http3

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"io"
	"math/big"
	"net"
	"testing"
	"time"

	"github.com/quic-go/quic-go"
)

// serve starts a QUIC server, and returns a connection to it. The server calls
// control for its control stream, and handle for the stream of the first
// request.
func serve(t *testing.T, control func(*quic.Conn), handle func(*quic.Conn, *quic.Stream)) *Conn {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"localhost"}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	config := &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}, NextProtos: []string{Protocol}}
	l, err := quic.ListenAddr("127.0.0.1:0", config, &quic.Config{MaxIdleTimeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		c, err := l.Accept(t.Context()) // ends before the cleanup
		if err != nil {
			return
		}
		control(c)
		if s, err := c.AcceptStream(t.Context()); err == nil {
			handle(c, s)
		}
		<-c.Context().Done()
	}()
	socket, err := net.Dial("udp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	c, err := Handshake(t.Context(), socket, &tls.Config{InsecureSkipVerify: true, ServerName: "localhost"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(); <-done; l.Close() })
	return c
}

// settings opens the control stream of a well-behaved server.
func settings(c *quic.Conn) { openControl(c, appendFrame(nil, frameSettings, nil)) }

func openControl(c *quic.Conn, frames []byte) {
	openStream(c, append([]byte{streamControl}, frames...))
}

func openStream(c *quic.Conn, data []byte) {
	if s, err := c.OpenUniStream(); err == nil {
		s.Write(data)
	}
}

// section returns a HEADERS frame.
func section(fields ...string) []byte {
	var all []Field
	for i := 0; i < len(fields); i += 2 {
		all = append(all, Field{Name: fields[i], Value: fields[i+1]})
	}
	return appendFrame(nil, frameHeaders, encode(all))
}

func data(text string) []byte { return appendFrame(nil, frameData, []byte(text)) }

// write returns a handler that writes frames and ends the stream.
func write(frames ...[]byte) func(*quic.Conn, *quic.Stream) {
	return func(_ *quic.Conn, s *quic.Stream) {
		s.Write(bytes.Join(frames, nil))
		s.Close()
	}
}

// repeat returns a handler that writes start and then frame until it fails.
func repeat(start, frame []byte) func(*quic.Conn, *quic.Stream) {
	return func(_ *quic.Conn, s *quic.Stream) {
		_, err := s.Write(start)
		for block := bytes.Repeat(frame, 1+4096/len(frame)); err == nil; {
			_, err = s.Write(block)
		}
	}
}

var get = []Field{{Name: ":method", Value: "GET"}, {Name: ":scheme", Value: "https"},
	{Name: ":authority", Value: "localhost"}, {Name: ":path", Value: "/"}}

// request sends a request and returns the status and the body, or the error.
func request(c *Conn, limit time.Duration, fields []Field) (status int, body string, trailer []Field, err error) {
	released := make(chan struct{})
	resp, err := c.RoundTrip(context.Background(), fields, limit, func() {}, func() { close(released) })
	if err != nil {
		<-released
		return 0, "", nil, err
	}
	b, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	<-released
	return resp.Status, string(b), resp.Body.Trailer(), err
}
