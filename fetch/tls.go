package fetch

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch/trace"
)

// handshakeTime is the timeout of a TLS handshake with a server.
const handshakeTime = 10 * time.Second

// Handshake performs a TLS handshake with host over conn, a connection that a
// [Net] opened. The handshake times out after 10 seconds. If it fails,
// Handshake closes conn.
//
// Handshake reports the phase Secured to events. It reports the parameters of
// the connection and the certificate to the Trace of the request, which it
// finds by ctx.
//
// The config is usually Env.TLS. If it is nil, the zero Config is used.
// Handshake clones config and sets NextProtos to protocols. If ServerName is
// empty, Handshake sets it to host, without an address zone or a final dot. It
// removes the client certificates, unless the user entered the URL, or a URL of
// the same server that leads to it. If EncryptedClientHelloConfigList is a list
// without configurations, Handshake fails and sends nothing.
//
// An error has the Fault TLS if the peer failed to authenticate or violated the
// TLS protocol. If the network failed, the Fault is Connect or Timeout, which
// are transient. If ctx has ended, the error is the cause of ctx.
func Handshake(
	ctx context.Context, conn net.Conn, config *tls.Config, host string, events *trace.Trace, protocols ...string,
) (*tls.Conn, error) {
	if g := grantOf(ctx); g != nil && g.anonymous {
		config = withoutCertificates(config)
	}
	secure, err := handshake(ctx, conn, config, host, handshakeTime, protocols)
	if err == nil {
		events.Reached(trace.Secured, secure)
	}
	return secure, err
}

func handshake(
	ctx context.Context, conn net.Conn, config *tls.Config, host string, limit time.Duration, protocols []string,
) (*tls.Conn, error) {
	if config = config.Clone(); config == nil {
		config = &tls.Config{}
	}
	if config.ServerName == "" {
		host, _, _ = strings.Cut(host, "%")
		config.ServerName = strings.TrimSuffix(host, ".")
	}
	config.NextProtos = protocols
	if string(config.EncryptedClientHelloConfigList) == "\x00\x00" {
		conn.Close()
		return nil, TLS.Errorf("encrypted client hello is required, but only https URLs can have a configuration for it")
	}
	within, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	t := traceOf(ctx)
	if len(protocols) > 0 {
		t.Connectionf("ALPN: offers %s", strings.Join(protocols, ","))
	}
	secure := tls.Client(conn, config)
	err := secure.HandshakeContext(within)
	switch {
	case err == nil:
		reportTLS(t, secure.ConnectionState(), config)
		return secure, nil
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case within.Err() != nil:
		err = Timeout.Errorf("no TLS handshake within %v", limit)
	default:
		reportTLSFailure(t, err)
		err = handshakeFault(err).Errorf("tls handshake: %w", err)
	}
	conn.Close()
	return nil, err
}

// handshakeFault returns the class of an error that ended a TLS handshake. If
// the server closed the connection, the class is Connect instead of Truncated.
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

// isTLS reports whether err is an error of TLS or of a certificate. It returns
// false for network errors that interrupted a handshake.
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
		return true // crypto/tls wraps an alert in a network error
	}
	return errors.As(err, &verify) || errors.As(err, &record) || errors.As(err, &alert) ||
		errors.As(err, &authority) || errors.As(err, &host) || errors.As(err, &invalid)
}
