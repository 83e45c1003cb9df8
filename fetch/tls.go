package fetch

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"strings"
	"time"
)

// A TLSMode says when a driver encrypts a connection that begins in plaintext,
// by AUTH TLS or STARTTLS. A request fails, and never continues in plaintext,
// if the server agrees to encrypt and TLS then fails.
type TLSMode uint8

const (
	TLSDefault  TLSMode = iota // as the Options of the scheme say
	TLSWanted                  // if the server can
	TLSRequired                // if the server can; the request fails otherwise
	TLSNever                   // not at all
)

// handshakeTime limits a TLS handshake with a server.
const handshakeTime = 10 * time.Second

// Handshake performs a TLS handshake with host over conn, a connection of a
// [Net], and reports Secured to trace. It closes conn if the handshake fails.
// The handshake may take 10 seconds.
//
// Config is Env.TLS or a variation of it; nil is the zero Config. Handshake
// clones it, fills in an empty ServerName from host, without the zone of an
// address or the final dot of a name, and sets NextProtos to protocols.
//
// The class of an error is TLS if the peer failed to authenticate itself or
// broke the TLS protocol. It is Connect or Timeout, both transient, if the
// network failed. After the end of ctx the error is its cause.
func Handshake(ctx context.Context, conn net.Conn, config *tls.Config, host string, trace *Trace, protocols ...string) (*tls.Conn, error) {
	secure, err := handshake(ctx, conn, config, host, handshakeTime, protocols)
	if err == nil {
		trace.Reached(Secured, secure)
	}
	return secure, err
}

func handshake(ctx context.Context, conn net.Conn, config *tls.Config, host string, limit time.Duration, protocols []string) (*tls.Conn, error) {
	if config = config.Clone(); config == nil {
		config = &tls.Config{}
	}
	if config.ServerName == "" {
		host, _, _ = strings.Cut(host, "%")
		config.ServerName = strings.TrimSuffix(host, ".")
	}
	config.NextProtos = protocols
	within, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	secure := tls.Client(conn, config)
	err := secure.HandshakeContext(within)
	switch {
	case err == nil:
		return secure, nil
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case within.Err() != nil:
		err = Timeout.Errorf("no TLS handshake within %v", limit)
	default:
		err = handshakeFault(err).Errorf("tls handshake: %w", err)
	}
	conn.Close()
	return nil, err
}

// handshakeFault returns the class of a failed handshake. A connection that
// ended during the handshake truncated nothing.
func handshakeFault(err error) Fault {
	switch fault := FaultOf(err); fault {
	case Internal:
		return TLS
	case Truncated:
		return Connect
	default:
		return fault
	}
}

// isTLS reports whether err is an error of TLS or of a certificate. A
// handshake that the network cut is an error of the network instead.
func isTLS(err error) bool {
	var (
		verify    *tls.CertificateVerificationError
		record    tls.RecordHeaderError
		alert     tls.AlertError
		authority x509.UnknownAuthorityError
		host      x509.HostnameError
		invalid   x509.CertificateInvalidError
		op        *net.OpError
	)
	if errors.As(err, &op) && (op.Op == "remote error" || op.Op == "local error") {
		return true // crypto/tls wraps an alert in an error of the network
	}
	return errors.As(err, &verify) || errors.As(err, &record) || errors.As(err, &alert) ||
		errors.As(err, &authority) || errors.As(err, &host) || errors.As(err, &invalid)
}
