package fetch

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"strings"

	"github.com/anyurl/fetch/fetch/trace"
)

// certificateTime is the format in which reports show the dates of a
// certificate, as in curl.
const certificateTime = "Jan _2 15:04:05 2006 GMT"

// reportTLS reports the parameters of a TLS connection and the certificate of
// the server to t.
func reportTLS(t *trace.Trace, s tls.ConnectionState, config *tls.Config) {
	if t == nil || t.Connection == nil {
		return
	}
	parameters := fmt.Sprintf("SSL connection using %s / %s", strings.Replace(tls.VersionName(s.Version), "TLS ", "TLSv", 1),
		tls.CipherSuiteName(s.CipherSuite))
	if s.CurveID != 0 {
		parameters += fmt.Sprint(" / ", s.CurveID)
	}
	t.Connection(parameters)
	if s.ECHAccepted {
		t.Connection("ECH: server accepted it")
	}
	switch {
	case s.NegotiatedProtocol != "":
		t.Connectionf("ALPN: server accepted %s", s.NegotiatedProtocol)
	case len(config.NextProtos) > 0:
		t.Connection("ALPN: server did not agree on a protocol")
	}
	if len(s.PeerCertificates) == 0 {
		return
	}
	reportCertificate(t, s.PeerCertificates[0])
	if len(s.VerifiedChains) > 0 {
		t.Connection(" SSL certificate verify ok.")
		return
	}
	if err := verifyChain(s.PeerCertificates, config); err != nil {
		t.Connectionf(" SSL certificate verify result: %v, continuing anyway.", err)
		return
	}
	t.Connection(" SSL certificate verify ok.")
}

// reportTLSFailure reports the certificate of a server that failed to
// authenticate.
func reportTLSFailure(t *trace.Trace, err error) {
	var verify *tls.CertificateVerificationError
	if t == nil || t.Connection == nil || !errors.As(err, &verify) || len(verify.UnverifiedCertificates) == 0 {
		return
	}
	reportCertificate(t, verify.UnverifiedCertificates[0])
	t.Connectionf(" SSL certificate problem: %v", verify.Err)
}

func reportCertificate(t *trace.Trace, c *x509.Certificate) {
	t.Connection("Server certificate:")
	t.Connectionf(" subject: %s", c.Subject)
	t.Connectionf(" start date: %s", c.NotBefore.UTC().Format(certificateTime))
	t.Connectionf(" expire date: %s", c.NotAfter.UTC().Format(certificateTime))
	t.Connectionf(" issuer: %s", c.Issuer)
}

// verifyChain verifies the certificates for the report if the TLS handshake has
// not verified them, because InsecureSkipVerify is set.
func verifyChain(chain []*x509.Certificate, config *tls.Config) error {
	o := x509.VerifyOptions{Roots: config.RootCAs, DNSName: config.ServerName, Intermediates: x509.NewCertPool()}
	if config.Time != nil {
		o.CurrentTime = config.Time()
	}
	for _, c := range chain[1:] {
		o.Intermediates.AddCert(c)
	}
	_, err := chain[0].Verify(o)
	return err
}
