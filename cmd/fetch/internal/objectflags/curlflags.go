package objectflags

import (
	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/fetch"
)

// curlFlags are the flags of curl that fetch ignores or rejects.
type curlFlags struct{}

// ignoredFlags contains flags that only tune the transport, select a default of
// fetch, or name the format of a file that fetch detects. The value is true if
// the flag has an argument.
var ignoredFlags = map[string]bool{
	"egd-file": true, "engine": true, "random-file": true, "ip-tos": true, "vlan-priority": true, "mptcp": false,
	"proxy-http2": false, "proxy-ssl-allow-beast": false, "proxy-ssl-auto-client-cert": false, "proxy-tlsv1": false,
	"socks5-basic": false, "ssl-sessions": true, "tls-earlydata": false, "trace-ids": false, "ftp-ssl-ccc": false,
	"ftp-ssl-ccc-mode": true, "dump-ca-embed": false, "pubkey": true,
	"compressed-ssh": false, "expect100-timeout": true, "cert-type": true, "key-type": true, "proxy-cert-type": true, "proxy-key-type": true, "false-start": false,
	"no-alpn": false, "no-npn": false, "no-sessionid": false,
	"parallel-immediate": false, "post301": false, "post302": false, "post303": false, "retry-connrefused": false,
	"sasl-ir": false, "ssl-allow-beast": false, "ssl-no-revoke": false, "ssl-revoke-best-effort": false,
	"styled-output": false, "suppress-connect-headers": false, "tcp-fastopen": false, "tcp-nodelay": false,
	"tr-encoding": false, "ssl-auto-client-cert": false,
}

// unsupportedFlags maps rejected flags without an argument to the error text,
// which states the reason or an alternative.
var unsupportedFlags = map[string]string{
	"fail-early":               "run one command for each URL",
	"disallow-username-in-url": "a URL can contain a user name", "http2-prior-knowledge": "HTTP/2 requires TLS",
	"next": "it divides only a command line",
	"ntlm": "NTLM authentication is not supported",

	"proxy-ntlm": "NTLM authentication is not supported",
	"sslv2":      "SSL is not supported", "sslv3": "SSL is not supported",
	"haproxy-protocol": "the PROXY protocol is not supported", "manual": "use fetch --help and fetch help TOPIC",
	"crlf": "fetch only reads", "ftp-create-dirs": "fetch only reads",
	"form-escape": "fetch only reads", "mail-rcpt-allowfails": "fetch only reads", "metalink": "Metalink is not supported",
	"ntlm-wb": "NTLM authentication is not supported", "socks5-gssapi": "Kerberos is not supported for SOCKS",
	"socks5-gssapi-nec": "Kerberos is not supported for SOCKS",
}

// unsupportedValues is like unsupportedFlags for flags with an argument.
var unsupportedValues = map[string]string{

	"ciphers": "the ciphers are those of Go", "create-file-mode": "use umask",
	"login-options":  "use --sasl MECHANISM",
	"request-target": "the request target is the URL", "telnet-option": "options are negotiated",
	"proxy-ciphers": "the ciphers are those of Go", "proxy-tls13-ciphers": "the ciphers are those of Go",
	"sigalgs":      "the signature algorithms are those of Go",
	"delegation":   "Kerberos tickets are never delegated",
	"service-name": "the service is HTTP", "proxy-service-name": "the service is HTTP", "socks5-gssapi-service": "Kerberos is not supported for SOCKS",
	"haproxy-clientip": "the PROXY protocol is not supported", "hostpubmd5": "use --hostpubsha256",
	"krb": "Kerberos is not supported for ftp", "libcurl": "use the Go library of fetch", "mail-auth": "fetch only reads",
	"proxy1.0": "use --proxy", "sasl-authzid": "the login is the identity",
	"tlsauthtype": "SRP is not supported", "tlsuser": "SRP is not supported", "tlspassword": "SRP is not supported",
	"proxy-tlsauthtype": "SRP is not supported", "proxy-tlsuser": "SRP is not supported", "proxy-tlspassword": "SRP is not supported",
	"trace-config": "use -v", "upload-flags": "fetch only reads", "variable": "use variables of the shell",
	"tls13-ciphers": "the ciphers are those of Go",
	"curves":        "the curves are those of Go",
}

// shortNames maps flags to their short names.
var shortNames = map[string]string{"sslv2": "2", "sslv3": "3", "next": ":", "manual": "M", "telnet-option": "t"}

// Register registers the flags as hidden flags.
func (curlFlags) Register(s *options.Set) {
	var hidden options.Set
	p := hidden.Section("curl")
	for name, value := range ignoredFlags {
		p.FuncP(name, shortNames[name], "ignored", func(string) error { return nil })
		if !value {
			p.Lookup(name).NoOptDefVal = "true"
		}
	}
	reject := func(flags map[string]string, value bool) {
		for name, reason := range flags {
			p.FuncP(name, shortNames[name], "not supported", func(string) error {
				return fetch.Unsupported.Errorf("--%s: %s", name, reason)
			})
			if !value {
				p.Lookup(name).NoOptDefVal = "true"
			}
		}
	}
	reject(unsupportedFlags, false)
	reject(unsupportedValues, true)
	hidden.Hide()
	s.Sections = append(s.Sections, hidden.Sections...)
}
