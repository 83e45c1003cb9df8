package http3

import (
	"crypto/tls"
	"errors"
	"fmt"
	"os"

	"github.com/quic-go/quic-go"
)

// Error codes (RFC 9114 section 8.1).
const (
	noError              = 0x100
	generalProtocolError = 0x101
	streamCreationError  = 0x103
	closedCriticalStream = 0x104
	frameUnexpected      = 0x105
	frameError           = 0x106
	excessiveLoad        = 0x107
	idError              = 0x108
	settingsError        = 0x109
	missingSettings      = 0x10a
	requestRejected      = 0x10b
	requestCancelled     = 0x10c
	messageError         = 0x10e
)

// An Error describes a server that violates HTTP/3 or a limit.
type Error struct {
	Code      uint64 // error code of HTTP/3
	TooLarge  bool   // a limit for sizes was exceeded
	Truncated bool   // the response is incomplete
	Text      string
}

func (e *Error) Error() string { return "http3: " + e.Text }

// ErrUnsent means that the server has not processed the request, so that it can
// be sent again over another connection.
var ErrUnsent = errors.New("http3: server closes the connection")

// A TLSError means that the TLS handshake of a QUIC connection failed.
type TLSError struct{ Err error }

func (e *TLSError) Error() string { return "tls handshake: " + e.Err.Error() }
func (e *TLSError) Unwrap() error { return e.Err }

// handshakeFault converts an error of a QUIC handshake.
func handshakeFault(err error) error {
	var transport *quic.TransportError
	var idle *quic.IdleTimeoutError
	var handshake *quic.HandshakeTimeoutError
	switch {
	case errors.As(err, &transport) && transport.ErrorCode.IsCryptoError():
		if causes := transport.Unwrap(); len(causes) > 0 && !transport.Remote {
			return &TLSError{causes[len(causes)-1]}
		}
		return &TLSError{tls.AlertError(transport.ErrorCode - 0x100)}
	case errors.As(err, &idle), errors.As(err, &handshake):
		return fmt.Errorf("no QUIC handshake: %w", os.ErrDeadlineExceeded)
	case errors.As(err, &transport):
		return &LostError{Err: err}
	}
	return err
}

// A LostError means that the connection or the stream of a request ended.
type LostError struct {
	Reset bool // the server canceled only the stream
	Err   error
}

func (e *LostError) Error() string {
	if e.Reset {
		return "http3: server canceled the request"
	}
	return "http3: connection lost"
}

// Unwrap returns nothing of package quic but the errors of timeouts, whose text
// has no bytes from the server.
func (e *LostError) Unwrap() error {
	var idle *quic.IdleTimeoutError
	if errors.As(e.Err, &idle) {
		return idle
	}
	return nil
}

// streamFault converts an error of package quic.
func streamFault(err error) error {
	var stream *quic.StreamError
	var transport *quic.TransportError
	var application *quic.ApplicationError
	var idle *quic.IdleTimeoutError
	var reset *quic.StatelessResetError
	switch {
	case errors.As(err, &stream) && stream.Remote && stream.ErrorCode == requestRejected:
		return ErrUnsent
	case errors.As(err, &stream) && stream.Remote:
		return &LostError{Reset: true, Err: err}
	case errors.As(err, &application) && !application.Remote:
		return &Error{Code: uint64(application.ErrorCode), Text: application.ErrorMessage}
	case errors.As(err, &transport) && !transport.Remote:
		return &Error{Code: generalProtocolError, Text: fmt.Sprintf("server violates QUIC (error %#x)", uint64(transport.ErrorCode))}
	case errors.As(err, &transport), errors.As(err, &application), errors.As(err, &idle), errors.As(err, &reset):
		return &LostError{Err: err}
	}
	return err
}
