package peer

import (
	"bytes"
	"crypto/ecdh"
	"crypto/rand"
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/cryptobyte"
)

// An ECHKey is the key of a server for Encrypted Client Hello.
type ECHKey struct {
	tls.EncryptedClientHelloKey
	List []byte // the ECHConfigList of the key
}

// NewECHKey returns a new key. The name public is sent in plaintext.
func NewECHKey(t TB, public string, id uint8) ECHKey {
	t.Helper()
	private, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatalf("peer: %v", err)
	}
	var b cryptobyte.Builder
	b.AddUint16(0xfe0d)
	b.AddUint16LengthPrefixed(func(b *cryptobyte.Builder) {
		b.AddUint8(id)
		b.AddUint16(0x0020) // DHKEM(X25519, HKDF-SHA256)
		b.AddUint16LengthPrefixed(func(b *cryptobyte.Builder) { b.AddBytes(private.PublicKey().Bytes()) })
		b.AddUint16LengthPrefixed(func(b *cryptobyte.Builder) {
			b.AddUint16(1) // HKDF-SHA256
			b.AddUint16(1) // AES-128-GCM
		})
		b.AddUint8(32)
		b.AddUint8LengthPrefixed(func(b *cryptobyte.Builder) { b.AddBytes([]byte(public)) })
		b.AddUint16(0)
	})
	config := b.BytesOrPanic()
	var list cryptobyte.Builder
	list.AddUint16LengthPrefixed(func(b *cryptobyte.Builder) { b.AddBytes(config) })
	return ECHKey{
		EncryptedClientHelloKey: tls.EncryptedClientHelloKey{Config: config, PrivateKey: private.Bytes(), SendAsRetry: true},
		List:                    list.BytesOrPanic(),
	}
}

// An ECHServer is an https server with ECH, or a relay in front of one. It records
// all bytes that clients send.
type ECHServer struct {
	Addr string

	mu    sync.Mutex
	conns []*bytes.Buffer
}

// ECH starts an ECHServer whose responses are "hello", or redirects to the value
// of the parameter "to" of a query. The function keys is called for each
// connection. Without keys, the server does not support ECH. The curves are for
// the key exchange; none means the default.
func ECH(t TB, cert *Cert, keys func() []tls.EncryptedClientHelloKey, curves ...tls.CurveID) *ECHServer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("peer: %v", err)
	}
	s := &ECHServer{Addr: l.Addr().String()}
	config := &tls.Config{Certificates: []tls.Certificate{cert.TLS}, CurvePreferences: curves}
	config.GetEncryptedClientHelloKeys = func(*tls.ClientHelloInfo) ([]tls.EncryptedClientHelloKey, error) { return keys(), nil }
	server := &http.Server{TLSConfig: config, ErrorLog: log.New(io.Discard, "", 0), Handler: http.HandlerFunc(serveHello)}
	go server.ServeTLS(&echListener{l, s}, "", "")
	t.Cleanup(func() { server.Close() })
	return s
}

func serveHello(w http.ResponseWriter, r *http.Request) {
	if to := r.URL.Query().Get("to"); to != "" {
		http.Redirect(w, r, to, http.StatusFound)
		return
	}
	http.ServeContent(w, r, "hello.txt", time.Time{}, strings.NewReader("hello\n"))
}

// Received returns the number of connections with data since the last call, and
// reports whether clients have sent one of the names in plaintext.
func (s *ECHServer) Received(names ...string) (conns int, found bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range s.conns {
		for _, name := range names {
			found = found || strings.Contains(b.String(), name)
		}
		if b.Len() > 0 {
			conns++
		}
	}
	s.conns = nil
	return conns, found
}

// record returns the writer for the bytes that a client sends on a new connection.
func (s *ECHServer) record() io.Writer {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := new(bytes.Buffer)
	s.conns = append(s.conns, b)
	return &echRecord{s, b}
}

type echRecord struct {
	server   *ECHServer
	received *bytes.Buffer
}

func (r *echRecord) Write(p []byte) (int, error) {
	r.server.mu.Lock()
	defer r.server.mu.Unlock()
	return r.received.Write(p)
}

type echListener struct {
	net.Listener
	server *ECHServer
}

func (l *echListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &echConn{c, io.TeeReader(c, l.server.record())}, nil
}

type echConn struct {
	net.Conn
	reader io.Reader
}

func (c *echConn) Read(p []byte) (int, error) { return c.reader.Read(p) }
