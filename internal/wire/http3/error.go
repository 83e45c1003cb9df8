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

// handshakeFault converts an error of a QUIC handshake.
func handshakeFault(err error) error {
	var transport *quic.TransportError
	var idle *quic.IdleTimeoutError
	var handshake *quic.HandshakeTimeoutError
	var versions *quic.VersionNegotiationError
	switch {
	case errors.As(err, &transport) && transport.ErrorCode.IsCryptoError():
		if causes := transport.Unwrap(); len(causes) > 0 && !transport.Remote {
			return &TLSError{Err: causes[len(causes)-1]}
		}
		return &TLSError{Err: tls.AlertError(transport.ErrorCode - 0x100)}
	case errors.As(err, &idle), errors.As(err, &handshake):
		return fmt.Errorf("no QUIC handshake: %w", os.ErrDeadlineExceeded)
	case errors.As(err, &versions): // its text has all versions of the server
		return errors.New("server does not support version 1 of QUIC")
	case errors.As(err, &transport):
		return lostError(err)
	}
	return err
}

// lostError returns a LostError. Of the error of package quic, it keeps only
// timeouts, because other texts have bytes from the server.
func lostError(err error) *LostError {
	var idle *quic.IdleTimeoutError
	if errors.As(err, &idle) {
		return &LostError{Err: idle}
	}
	return &LostError{}
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
		return &LostError{Reset: true}
	case errors.As(err, &application) && !application.Remote:
		return &Error{Code: uint64(application.ErrorCode), Text: application.ErrorMessage}
	case errors.As(err, &transport) && transport.Remote && transport.ErrorCode.IsCryptoError():
		return &TLSError{Err: tls.AlertError(transport.ErrorCode - 0x100)}
	case errors.As(err, &transport) && !transport.Remote:
		return &Error{Code: generalProtocolError, Text: fmt.Sprintf("server violates QUIC (error %#x)", uint64(transport.ErrorCode))}
	case errors.As(err, &transport), errors.As(err, &application), errors.As(err, &idle), errors.As(err, &reset):
		return lostError(err)
	}
	return err
}
