package h3_test

import (
	"context"
	"crypto/tls"
	"io"
	"testing"

	"github.com/quic-go/quic-go"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/schemes/http/h3"
)

// serveQUIC passes each connection to answer until the test ends.
func serveQUIC(t *testing.T, config *tls.Config, limits *quic.Config, answer func(*quic.Conn)) *quic.Listener {
	t.Helper()
	l, err := quic.ListenAddr("127.0.0.1:0", config, limits)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept(context.Background())
			if err != nil {
				return
			}
			go answer(c)
		}
	}()
	return l
}

// TestFewStreams checks that an unread body does not block the next request if the
// server allows only one request at a time on a connection.
func TestFewStreams(t *testing.T) {
	cert := peer.NewCert(t, peer.CertOptions{Hosts: []string{"a.test"}})
	config := &tls.Config{Certificates: []tls.Certificate{cert.TLS}, NextProtos: []string{"h3"}}
	l := serveQUIC(t, config, &quic.Config{MaxIncomingStreams: 1}, answerLarge)
	o := http.Options{HTTP3: h3.New(h3.Options{Mode: h3.Only})}
	client := fetch.New(fetch.Options{Policy: fetch.Typed(), Resolver: loopback{}, TLS: &tls.Config{RootCAs: cert.Pool}}, http.Schemes(o)...)
	defer client.Close()
	url := "https://a.test:" + l.Addr().String()[len("127.0.0.1:"):] + "/"
	first, err := client.Get(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer first.Body.Close()
	for range 2 { // the later one uses the second connection
		second, err := client.Get(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := io.Copy(io.Discard, second.Body); n != largeBody || err != nil {
			t.Errorf("second body: %d bytes, %v", n, err)
		}
		second.Body.Close()
	}
	if n, err := io.Copy(io.Discard, first.Body); n != largeBody || err != nil {
		t.Errorf("first body: %d bytes, %v", n, err)
	}
}

// largeBody is the length of a body that does not fit in the window of a stream.
const largeBody = 3 << 20

// answerLarge answers each request with a body of largeBody bytes.
func answerLarge(c *quic.Conn) {
	for {
		s, err := c.AcceptStream(context.Background())
		if err != nil {
			return
		}
		io.Copy(io.Discard, s)
		s.Write([]byte("\x01\x03\x00\x00\xd9\x00\x80\x30\x00\x00")) // HEADERS with the status 200, and the start of DATA
		s.Write(make([]byte, largeBody))
		s.Close()
	}
}
