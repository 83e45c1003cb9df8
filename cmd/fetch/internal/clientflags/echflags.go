package clientflags

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"net"
	"strconv"
	"strings"

	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/schemes/http/doh"
)

// echFlags is the flag for Encrypted Client Hello.
type echFlags struct {
	off, required bool
	list          []byte // configurations for all servers, or nil
}

func (f *echFlags) register(s *options.Set) {
	p := s.Section("TLS")
	p.Func("ech", "encrypt the server name in TLS: `MODE` is true, hard, false or ecl:BASE64 (default true with --doh-url)", f.set)
	options.SetValues(p.Lookup("ech"), "true", "hard", "false")
}

// set parses the argument of --ech, which may be given twice, as in curl: once
// with a mode, and once with a list.
func (f *echFlags) set(mode string) (err error) {
	text, isList := strings.CutPrefix(mode, "ecl:")
	switch {
	case isList:
		if f.list, err = base64.StdEncoding.DecodeString(text); err != nil || len(f.list) == 0 {
			return fetch.Usage.Errorf("--ech ecl: not a list in base64")
		}
		f.off = false
	case mode == "true", mode == "hard", mode == "false":
		f.off, f.required = mode == "false", mode == "hard"
	case mode == "grease", strings.HasPrefix(mode, "pn:"):
		return fetch.Unsupported.Errorf("--ech %s: crypto/tls of Go cannot do this", mode)
	default:
		return fetch.Usage.Errorf("--ech is true, hard, false or ecl:BASE64, not %q", mode)
	}
	return nil
}

// useECH makes the http schemes of spec use Encrypted Client Hello as --ech
// selects.
func (c *OpenClient) useECH(f *Flags, spec *Spec) error {
	switch {
	case f.ech.off:
		return nil
	case f.ech.list != nil:
		spec.Schemes.HTTP.ECH = &http.ECH{Required: f.ech.required,
			Configs: func(context.Context, string, uint16, string) ([]byte, error) { return f.ech.list, nil }}
	case f.dns.doh != "":
		spec.Schemes.HTTP.ECH = &http.ECH{Required: f.ech.required, Configs: c.echConfigs}
	case f.ech.required:
		return fetch.Usage.Errorf("--ech hard requires --doh-url or --ech ecl:BASE64")
	}
	return nil
}

// restrict returns a copy of s. If --ech is hard, its TLS handshakes send no server
// name in plaintext, because its configuration has an empty ECHConfigList. The
// http schemes replace this list for each server. For other schemes,
// [fetch.Handshake] fails.
func (f *echFlags) restrict(s fetch.Scheme) fetch.Scheme {
	open := s.Open
	if !f.required || open == nil {
		return s
	}
	s.Open = func(env fetch.Env) fetch.Driver {
		if env.TLS = env.TLS.Clone(); env.TLS == nil {
			env.TLS = &tls.Config{}
		}
		env.TLS.EncryptedClientHelloConfigList = []byte{0, 0}
		return open(env)
	}
	return s
}

// echConfigs returns the ECHConfigList in the HTTPS records of a server. The
// records of other endpoints are not used. If only these have a list, the result
// is an error, so that a note reports that the name is sent in plaintext.
func (c *OpenClient) echConfigs(ctx context.Context, host string, port uint16, endpoint string) ([]byte, error) {
	over, ok := c.resolver.(*doh.Resolver)
	if !ok {
		return nil, nil
	}
	services, err := over.Services(ctx, host, port)
	if name, port, failed := net.SplitHostPort(endpoint); failed == nil { // records have no final dot
		endpoint = net.JoinHostPort(strings.TrimSuffix(name, "."), port)
	}
	for _, s := range services {
		at := net.JoinHostPort(s.Host, strconv.Itoa(int(s.Port)))
		switch {
		case s.ECH != nil && strings.EqualFold(at, endpoint):
			return s.ECH, nil
		case s.ECH != nil:
			err = fetch.TLS.Errorf("the HTTPS record of %s has keys for %s, and none for %s", host, at, endpoint)
		}
	}
	return nil, err
}
