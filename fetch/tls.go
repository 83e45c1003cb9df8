package fetch

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
)

// isTLS reports whether err says that the peer, or its TLS, is not to be
// trusted. A handshake that was cut is an error of the network instead.
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
		return true // an alert: crypto/tls dresses it as an error of the network
	}
	return errors.As(err, &verify) || errors.As(err, &record) || errors.As(err, &alert) ||
		errors.As(err, &authority) || errors.As(err, &host) || errors.As(err, &invalid)
}
