// Package http3 implements the client side of HTTP/3 (RFC 9114) on QUIC
// connections. It limits everything that a server can send, and reports a body
// as complete only if the server has confirmed its end.
package http3

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/qlogwriter"

	"github.com/anyurl/fetch/internal/wire/http3/message"
)

// Types of unidirectional streams (RFC 9114 section 6.2, RFC 9204 section 4.2).
const (
	streamControl = 0x0
	streamPush    = 0x1
	streamEncoder = 0x2
	streamDecoder = 0x3
)

// Limits of a connection.
const (
	streamWindow = 2 << 20
	uniStreams   = 8           // streams that the server may open in total; HTTP/3 needs 3
	maxSettings  = 4 << 10     // bytes of a SETTINGS frame
	typeTime     = time.Minute // until the first byte of a stream of the server
)

// Protocol is the name of HTTP/3 in the TLS handshake.
const Protocol = "h3"

// These types are in package message, so that other packages do not link QUIC.
type (
	Error     = message.Error
	TLSError  = message.TLSError
	LostError = message.LostError
	Field     = message.Field
	Response  = message.Response
)

// ErrUnsent is the error of a request that the server has not processed.
var ErrUnsent = message.ErrUnsent

// A Conn is a connection to a server. It implements message.Conn.
type Conn struct {
	*quic.Conn
	transport *quic.Transport
	socket    net.Conn
	config    *tls.Config
	guard     *bufferGuard

	mu      sync.Mutex
	goAway  bool
	streams map[uint64]bool // types of the critical streams that the server has opened
}

// Handshake opens a connection over a connected UDP socket. The field ServerName
// of config is required. If Handshake fails, it closes the socket.
func Handshake(ctx context.Context, socket net.Conn, config *tls.Config) (*Conn, error) {
	config = config.Clone()
	config.NextProtos, config.MinVersion = []string{Protocol}, tls.VersionTLS13
	c := &Conn{socket: socket, config: config, transport: &quic.Transport{Conn: &packetConn{Conn: socket}}, streams: map[uint64]bool{}}
	exceeded, exceed := context.WithCancel(context.Background())
	c.guard = newBufferGuard(exceed)
	var err error
	c.Conn, err = c.transport.Dial(ctx, socket.RemoteAddr(), config, &quic.Config{
		Versions: []quic.Version{quic.Version1}, MaxIdleTimeout: 30 * time.Second, KeepAlivePeriod: 10 * time.Second,
		MaxIncomingStreams: -1, MaxIncomingUniStreams: uniStreams, RequireStreamCreditRelease: true,
		MaxStreamReceiveWindow: streamWindow, InitialConnectionReceiveWindow: message.MaxRequests * streamWindow,
		MaxConnectionReceiveWindow: message.MaxRequests * streamWindow,
		Tracer:                     func(context.Context, bool, quic.ConnectionID) qlogwriter.Trace { return c.guard },
	})
	if err == nil {
		err = c.sendSettings()
	}
	if err != nil {
		c.closeSocket()
		return nil, handshakeFault(err)
	}
	context.AfterFunc(c.Conn.Context(), c.closeSocket)
	context.AfterFunc(exceeded, func() {
		c.fail(&Error{Code: excessiveLoad, Text: "server sent its data in too many small frames"})
	})
	go c.acceptStreams()
	return c, nil
}

func (c *Conn) closeSocket() {
	c.transport.Close()
	c.socket.Close()
}

// sendSettings opens the control stream. The server may send no header sections
// above maxHead, and may use no dynamic table.
func (c *Conn) sendSettings() error {
	s, err := c.Conn.OpenUniStream()
	if err != nil {
		return err
	}
	const maxFieldSectionSize = 0x6
	settings := appendVarint(appendVarint(nil, maxFieldSectionSize), maxHead)
	_, err = s.Write(appendFrame(appendVarint(nil, streamControl), frameSettings, settings))
	return err
}

// fail closes the connection because the server has violated HTTP/3.
func (c *Conn) fail(err error) {
	var e *Error
	if !errors.As(err, &e) {
		e = &Error{Code: closedCriticalStream, Text: "server closed a critical stream"}
	}
	c.Conn.CloseWithError(quic.ApplicationErrorCode(e.Code), e.Text)
}

// acceptStreams reads the streams that the server opens, until the connection
// ends. The server can open only uniStreams streams.
func (c *Conn) acceptStreams() {
	for {
		s, err := c.Conn.AcceptUniStream(c.Conn.Context())
		if err != nil {
			return
		}
		go c.readStream(s)
	}
}

// readStream reads a stream of the server. It leaves the streams of QPACK
// unread, because there is no dynamic table, and cancels streams of unknown
// types.
func (c *Conn) readStream(s *quic.ReceiveStream) {
	s.SetReadDeadline(time.Now().Add(typeTime))
	frames := newFrameReader(guardedStream{s, s.StreamID(), c.guard})
	kind, err := readVarint(frames.r)
	if err != nil {
		s.CancelRead(streamCreationError)
		return
	}
	s.SetReadDeadline(time.Time{})
	switch kind {
	case streamControl, streamEncoder, streamDecoder:
		c.mu.Lock()
		again := c.streams[kind]
		c.streams[kind] = true
		c.mu.Unlock()
		if again {
			c.fail(&Error{Code: streamCreationError, Text: "server opened a critical stream twice"})
		} else if kind == streamControl {
			c.fail(c.readControl(frames))
		}
	case streamPush:
		c.fail(&Error{Code: idError, Text: "server pushed a response"})
	default:
		s.CancelRead(streamCreationError)
	}
}

// readControl reads the control stream of the server. It returns an error if the
// stream ends.
func (c *Conn) readControl(f *frameReader) error {
	for first := true; ; first = false {
		kind, length, err := f.next()
		if err != nil {
			return err
		}
		switch {
		case first && kind != frameSettings:
			return &Error{Code: missingSettings, Text: "server sent no SETTINGS"}
		case kind == frameSettings && first:
			err = readSettings(f, length)
		case kind == frameGoAway:
			_, err = f.payload(length, 8)
			c.mu.Lock()
			c.goAway = true
			c.mu.Unlock()
		case kind == frameCancelPush:
			err = &Error{Code: idError, Text: "server canceled a push that was not requested"}
		case kind == frameData, kind == frameHeaders, kind == framePushPromise, kind == frameMaxPushID,
			kind == frameSettings, isReserved(kind):
			err = &Error{Code: frameUnexpected, Text: "unexpected frame on the control stream"}
		default:
			err = f.skip(length)
		}
		if err != nil {
			return err
		}
	}
}

// readSettings checks the settings of the server. No setting changes the output
// of this package.
func readSettings(f *frameReader, length uint64) error {
	b, err := f.payload(length, maxSettings)
	if err != nil {
		return err
	}
	seen := map[uint64]bool{}
	for r := bufio.NewReader(bytes.NewReader(b)); ; {
		id, err := readVarint(r)
		if err == io.EOF {
			return nil
		}
		if err == nil {
			_, err = readVarint(r)
		}
		if err != nil {
			return &Error{Code: frameError, Text: "malformed SETTINGS"}
		}
		if seen[id] || id >= 2 && id <= 5 {
			return &Error{Code: settingsError, Text: "invalid setting"}
		}
		seen[id] = true
	}
}

// Usable reports whether another request can be sent on the connection.
func (c *Conn) Usable() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.goAway && c.Conn.Context().Err() == nil && !c.guard.full()
}

// ConnectionState returns the state of the TLS handshake.
func (c *Conn) ConnectionState() tls.ConnectionState { return c.Conn.ConnectionState().TLS }

// TLSConfig returns the configuration of the TLS handshake.
func (c *Conn) TLSConfig() *tls.Config { return c.config }

// Close ends all requests and closes the connection.
func (c *Conn) Close() error { return c.Conn.CloseWithError(noError, "") }

// Read returns an error, because only requests read from the connection.
func (c *Conn) Read([]byte) (int, error) { return 0, os.ErrInvalid }

// Write returns an error, because only requests write to the connection.
func (c *Conn) Write([]byte) (int, error) { return 0, os.ErrInvalid }

// SetDeadline has no effect. Each request has its own limits.
func (c *Conn) SetDeadline(time.Time) error { return nil }

// SetReadDeadline has no effect.
func (c *Conn) SetReadDeadline(time.Time) error { return nil }

// SetWriteDeadline has no effect.
func (c *Conn) SetWriteDeadline(time.Time) error { return nil }

// A packetConn is a connected UDP socket that refuses every other destination.
// It hides the other methods of the socket, because package quic would print a
// message if it cannot change the size of a buffer.
type packetConn struct{ net.Conn }

func (p *packetConn) ReadFrom(b []byte) (int, net.Addr, error) {
	n, err := p.Conn.Read(b)
	return n, p.Conn.RemoteAddr(), err
}

func (p *packetConn) WriteTo(b []byte, to net.Addr) (int, error) {
	if to.String() != p.Conn.RemoteAddr().String() {
		return 0, net.InvalidAddrError("not the address of the server")
	}
	return p.Conn.Write(b)
}

// SetWriteBuffer sets the size of the send buffer of the socket.
func (p *packetConn) SetWriteBuffer(size int) error {
	if s, ok := p.Conn.(interface{ SetWriteBuffer(int) error }); ok {
		return s.SetWriteBuffer(size)
	}
	return nil
}

// SetReadBuffer sets the size of the receive buffer of the socket.
func (p *packetConn) SetReadBuffer(size int) error {
	if s, ok := p.Conn.(interface{ SetReadBuffer(int) error }); ok {
		return s.SetReadBuffer(size)
	}
	return nil
}
