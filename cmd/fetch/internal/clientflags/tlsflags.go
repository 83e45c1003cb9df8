package clientflags

import (
	"crypto/tls"

	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/cmd/fetch/internal/tlsfiles"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/spf13/pflag"
)

// tlsFlags are the flags for the TLS connections of every scheme.
type tlsFlags struct {
	tlsfiles.Settings
	min versionFlags
}

func (f *tlsFlags) register(s *options.Set) {
	p := s.Section("TLS")
	p.BoolVarP(&f.Insecure, "insecure", "k", false, "skip certificate verification (insecure)")
	requiredVar(p, &f.CACert, "cacert", "trust only the CA certificates in `FILE`")
	requiredVar(p, &f.CAPath, "capath", "trust only the CA certificates in the files of `DIR`")
	p.BoolVar(&f.CANative, "ca-native", false, "also trust the CA certificates of the system")
	requiredVar(p, &f.CRL, "crlfile", "reject the certificates that the lists in `FILE` revoke")
	p.BoolVar(&f.Status, "cert-status", false, "require an OCSP response from the server (stapling)")
	p.StringVarP(&f.Cert, "cert", "E", "", "use the client certificate in `FILE` (PEM, DER or PKCS #12)")
	p.StringVar(&f.Key, "key", "", "use the private key in `FILE` for the client certificate, or for sftp")
	p.StringVar(&f.Pass, "pass", "", "decrypt the private key with `PASSPHRASE` (asks for it by default)")
	requiredVar(p, &f.Pinned, "pinnedpubkey", "`HASHES`: require one of these public keys (sha256//BASE64;...)")
	f.min.register(p)
	options.SetValues(versionVar(p, &f.Max, "tls-max", "use at most the TLS `VERSION` 1.0, 1.1, 1.2 or 1.3"), versionNames...)
}

// requiredVar registers a flag that restricts which servers are trusted. An empty
// value is an error, because it would disable the restriction.
func requiredVar(p *pflag.FlagSet, to *string, name, usage string) {
	p.Func(name, usage, func(text string) error {
		if *to = text; text == "" {
			return fetch.Usage.Errorf("the value is empty")
		}
		return nil
	})
}

// settings returns the settings of all TLS flags.
func (f *tlsFlags) settings() tlsfiles.Settings {
	s := f.Settings
	s.Min = f.min.version()
	return s
}

// tlsConsole returns the console that prompts for the passphrases of keys.
func tlsConsole(s *console.Streams) tlsfiles.Console {
	c := tlsfiles.Console{Note: s.Note}
	if s.CanPrompt() {
		c.Ask = s.ReadPassphrase
	}
	return c
}

// versionFlags are the flags for the lowest permitted version of TLS. Each of
// them also permits all later versions.
type versionFlags struct{ v10, v11, v12, v13 bool }

func (f *versionFlags) register(p *pflag.FlagSet) {
	p.BoolVar(&f.v10, "tlsv1.0", false, "permit TLS 1.0 or later (insecure)")
	p.BoolVar(&f.v11, "tlsv1.1", false, "permit TLS 1.1 or later (insecure)")
	p.BoolVar(&f.v12, "tlsv1.2", false, "use TLS 1.2 or later (default)")
	p.BoolVar(&f.v13, "tlsv1.3", false, "require TLS 1.3 or later")
	p.BoolVarP(&f.v10, "tlsv1", "1", false, "permit TLS 1.0 or later (insecure)")
	for _, name := range []string{"tlsv1", "tlsv1.2"} {
		p.Lookup(name).Hidden = true
	}
}

// version returns the lowest permitted version, or 0 for the default. The
// highest version of several flags applies.
func (f *versionFlags) version() uint16 {
	switch {
	case f.v13:
		return tls.VersionTLS13
	case f.v12:
		return tls.VersionTLS12
	case f.v11:
		return tls.VersionTLS11
	case f.v10:
		return tls.VersionTLS10
	}
	return 0
}

// versionNames are the values of --tls-max.
var versionNames = []string{"1.0", "1.1", "1.2", "1.3", "default"}

// versionVar registers a flag whose value is a version of TLS.
func versionVar(p *pflag.FlagSet, to *uint16, name, usage string) *pflag.Flag {
	p.Func(name, usage, func(text string) (err error) {
		*to, err = tlsfiles.ParseVersion(text)
		return err
	})
	return p.Lookup(name)
}

// startTLSFlags are the flags for STARTTLS. They apply to the protocols that
// start in plaintext: ftp, imap, ldap, pop and nntp.
type startTLSFlags struct{ enabled, required bool }

func (f *startTLSFlags) register(s *options.Set) {
	p := s.Section("TLS")
	p.BoolVar(&f.enabled, "ssl", false, "use TLS if the server supports it (ftp, imap, ldap, pop, nntp)")
	p.BoolVar(&f.required, "ssl-reqd", false, "fail if the server does not support TLS (ftp, imap, ldap, pop, nntp)")
}

// mode returns the TLSMode that --ssl and --ssl-reqd select.
func (f *startTLSFlags) mode() scheme.TLSMode {
	switch {
	case f.required:
		return scheme.TLSRequired
	case f.enabled:
		return scheme.TLSWanted
	}
	return scheme.TLSDefault
}
