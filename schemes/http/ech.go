package http

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/netip"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/trace"
)

// An ECH contains the settings of Encrypted Client Hello (RFC 9849), which hides
// the name of an https server from the network.
type ECH struct {
	// Configs returns the ECHConfigList of a server, for example from its HTTPS
	// record (RFC 9848), or nil if the server has none. The endpoint is the host
	// and port to which the connection goes. It differs from the host and port of
	// the server if an HTTPS record or Alt-Svc names an alternative.
	//
	// Configs is called after the connection was opened. It is not called for
	// addresses, and is called through a proxy only if Required is set.
	Configs func(ctx context.Context, host string, port uint16, endpoint string) ([]byte, error)

	// If Required is true, requests without ECH fail. Otherwise, a server without
	// an ECHConfigList gets its name in plaintext. The same applies if Configs
	// returns an error, and to a server that authenticates and rejects ECH without
	// another list. A note to the Trace reports these two cases.
	Required bool
}

type echTraceKey struct{}

// attach returns a context in which e reports to t.
func (e *ECH) attach(ctx context.Context, t *trace.Trace) context.Context {
	if e == nil || t == nil {
		return ctx
	}
	return context.WithValue(ctx, echTraceKey{}, t)
}

// An echAttempt is a TLS handshake with ECH, and perhaps a second one.
type echAttempt struct {
	ech    *ECH        // may be nil
	plain  *tls.Config // without ECH
	config *tls.Config // of the next handshake
	trace  *trace.Trace
	host   string
	again  bool // the second handshake
}

// newAttempt returns an attempt to connect to a server at an endpoint. The
// argument direct is false for a connection through a proxy.
func (e *ECH) newAttempt(
	ctx context.Context, config *tls.Config, host string, port uint16, endpoint string, direct bool,
) (*echAttempt, error) {
	a := &echAttempt{ech: e, plain: config, config: config, host: host}
	if e == nil {
		return a, nil
	}
	a.trace, _ = ctx.Value(echTraceKey{}).(*trace.Trace)
	_, err := netip.ParseAddr(host)
	switch isAddr, old := err == nil, config != nil && config.MaxVersion != 0 && config.MaxVersion < tls.VersionTLS13; {
	case e.Required && (isAddr || old):
		return nil, fetch.TLS.Errorf("encrypted client hello requires a host name and TLS 1.3")
	case isAddr || old || !direct && !e.Required:
		return a, nil
	}
	list, err := e.Configs(ctx, host, port, endpoint)
	if err == nil && len(list) > 0 {
		err = checkECH(ctx, list)
	}
	switch {
	case err != nil && (e.Required || ctx.Err() != nil):
		return nil, err
	case err != nil:
		a.trace.Notef("the name %s is sent in plaintext, because it is unknown whether encrypted client hello can be used: %v", host, err)
	case len(list) > 0:
		a.use(list)
	case e.Required:
		return nil, fetch.TLS.Errorf("encrypted client hello is required, but %s has no configuration for it", host)
	}
	return a, nil
}

// use sets the configurations of the next handshake.
func (a *echAttempt) use(list []byte) {
	if a.config = a.plain.Clone(); a.config == nil {
		a.config = &tls.Config{}
	}
	a.config.EncryptedClientHelloConfigList, a.config.MinVersion = list, tls.VersionTLS13
}

const (
	maxECH   = 8 << 10    // maximum length of an ECHConfigList
	emptyECH = "\x00\x00" // an ECHConfigList without configurations
)

// errSent is the error of an echProbe when it would send a ClientHello.
var errSent = errors.New("the configuration is valid")

// An echProbe is a connection that cannot be used.
type echProbe struct{ net.Conn }

func (echProbe) Write([]byte) (int, error)        { return 0, errSent }
func (echProbe) Close() error                     { return nil }
func (echProbe) SetWriteDeadline(time.Time) error { return nil }

// checkECH returns an error if a list has no configuration that package
// crypto/tls can use, for example because all are of a later version.
func checkECH(ctx context.Context, list []byte) error {
	var err error
	switch {
	case string(list) == emptyECH:
		err = fetch.TLS.Errorf("ECHConfigList is empty")
	case len(list) > maxECH:
		err = fetch.TLS.Errorf("ECHConfigList is longer than %d bytes", maxECH)
	default:
		_, err = fetch.Handshake(ctx, echProbe{}, &tls.Config{EncryptedClientHelloConfigList: list}, "host.invalid", nil)
	}
	if errors.Is(err, errSent) {
		return nil
	}
	return err
}

// retries reports whether another handshake, on a new connection, can succeed
// after err. Package crypto/tls returns ECHRejectionError only if the server
// authenticated with the public name in the configuration, so that another
// machine cannot cause the second handshake.
func (a *echAttempt) retries(err error) bool {
	var rejected *tls.ECHRejectionError
	if a.again || !errors.As(err, &rejected) {
		return false
	}
	a.again = true
	switch list := rejected.RetryConfigList; {
	case len(list) > maxECH, string(list) == emptyECH:
		return false
	case len(list) > 0:
		a.trace.Connectionf("ECH: %s rejected the configuration and sent another one", a.host)
		a.use(list)
	case a.ech.Required:
		return false
	default:
		a.trace.Notef("%s has disabled encrypted client hello: its name is sent in plaintext", a.host)
		a.config = a.plain
	}
	return true
}
