package main

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/anyurl/fetch/fetch"
	"github.com/spf13/pflag"
)

// tlsFlags say whom to believe, and who we are: for every scheme with TLS.
type tlsFlags struct {
	insecure bool
	cacert   string
	cert     string
	key      string
	pinned   string
	v12, v13 bool
}

func (f *tlsFlags) register(p *pflag.FlagSet) {
	p.BoolVarP(&f.insecure, "insecure", "k", false, "believe any server")
	p.StringVar(&f.cacert, "cacert", "", "believe the certificates of `FILE` alone")
	p.StringVarP(&f.cert, "cert", "E", "", "show the certificate in `FILE`")
	p.StringVar(&f.key, "key", "", "its private key, where --cert does not hold it: `FILE`")
	p.StringVar(&f.pinned, "pinnedpubkey", "", "believe only a server with the key `sha256//BASE64`, several with ; between")
	p.BoolVar(&f.v12, "tlsv1.2", false, "use TLS 1.2 or later (the default)")
	p.BoolVar(&f.v13, "tlsv1.3", false, "use TLS 1.3 or later")
	p.Lookup("tlsv1.2").Hidden = true
}

// config is nil where the defaults of crypto/tls do.
func (f *tlsFlags) config() (*tls.Config, error) {
	if *f == (tlsFlags{}) {
		return nil, nil
	}
	c := &tls.Config{InsecureSkipVerify: f.insecure, MinVersion: tls.VersionTLS12}
	if f.v13 {
		c.MinVersion = tls.VersionTLS13
	}
	if f.cacert != "" {
		pem, err := os.ReadFile(f.cacert)
		if err != nil {
			return nil, fetch.Local.With(err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fetch.Usage.Errorf("%s holds no certificate in PEM", f.cacert)
		}
	}
	if f.cert != "" {
		key := f.key
		if key == "" {
			key = f.cert
		}
		pair, err := tls.LoadX509KeyPair(f.cert, key)
		if err != nil {
			return nil, fetch.Local.With(err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, f.pin(c)
}

// trust names the flags for a server whose certificate is not trusted.
const trust = "--cacert FILE with the certificate of its issuer, or -k to skip verification (insecure)"

// remedy returns the flags that may avoid err, or "". The library has no
// Override for a certificate that it could not verify.
func (a *app) remedy(err error) string {
	var verify *tls.CertificateVerificationError
	if !a.flags.tls.insecure && errors.As(err, &verify) {
		return trust
	}
	return overrideFlag(fetch.OverrideOf(err))
}

// hintOnce is a middleware for a mirror, whose failures are notes: it writes
// trust for the first server that is not trusted.
func (a *app) hintOnce() fetch.Middleware {
	var once sync.Once
	return func(next fetch.Driver) fetch.Driver {
		return fetch.DriverFunc(func(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
			resp, err := next.Do(ctx, req)
			if a.remedy(err) == trust {
				once.Do(func() { a.note("to trust the server: %s", trust) })
			}
			return resp, err
		})
	}
}

// pin has c hold the server to one of the keys, whatever else it believes.
func (f *tlsFlags) pin(c *tls.Config) error {
	if f.pinned == "" {
		return nil
	}
	pins := strings.Split(f.pinned, ";")
	for _, pin := range pins {
		digest, ok := strings.CutPrefix(pin, "sha256//")
		if b, err := base64.StdEncoding.DecodeString(digest); !ok || err != nil || len(b) != sha256.Size {
			return fetch.Usage.Errorf("--pinnedpubkey wants sha256// and a digest in base64")
		}
	}
	c.VerifyConnection = func(s tls.ConnectionState) error {
		digest := sha256.Sum256(s.PeerCertificates[0].RawSubjectPublicKeyInfo)
		if slices.Contains(pins, "sha256//"+base64.StdEncoding.EncodeToString(digest[:])) {
			return nil
		}
		return fetch.TLS.Errorf("the server has another key than the pinned one")
	}
	return nil
}
