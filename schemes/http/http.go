package http

import (
	"context"
	"net"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/internal/wire/http3/message"
)

// Options contains the settings of the schemes http and https. The zero value
// selects the defaults.
type Options struct {
	// UserAgent is the value of the User-Agent header field. If UserAgent is
	// empty, the value is "fetch". To omit the field from a request, add an
	// empty User-Agent field to Request.Header.
	UserAgent string

	PathAsIs bool // keep "." and ".." segments in the request line
	HTTP1    bool // do not offer HTTP/2

	// HTTP3 selects the https requests that use HTTP/3. Package schemes/http/h3
	// returns values. If HTTP3 is nil, HTTP/3 is not used.
	HTTP3 HTTP3

	// ECH selects the https requests that use Encrypted Client Hello. If it is
	// nil, no request uses it.
	ECH *ECH

	Auth Auth // authentication method for Request.Auth

	// Negotiator makes the tokens for the method Negotiate. It may be nil.
	Negotiator Negotiator

	// If Compressed is true, requests accept the content codings gzip, deflate,
	// br and zstd, and Response.Body is decoded. A decoded Response has an
	// unknown Size and no Validator.
	Compressed bool

	// If KeepCompressed is true, Compressed has no effect on files that are
	// compressed themselves, such as file.tgz, which some servers send with the
	// Content-Encoding gzip. A body with an unknown or wrong content coding is
	// not decoded, and is no error.
	KeepCompressed bool

	// If Strict is true, a body that ends with the connection is reported as
	// truncated, because the connection may have been lost. HTTP/1.0 without
	// Content-Length is an example. The close_notify alert of TLS marks the end.
	Strict bool

	// If IgnoreDigests is true, the header fields Content-Digest, Repr-Digest
	// (RFC 9530) and Digest (RFC 3230) are not compared with the body.
	IgnoreDigests bool

	Legacy Legacy // support for servers that do not comply with HTTP/1.1
	Jar    *Jar   // cookies of http and https, or nil to ignore cookies
}

// An HTTP3 opens connections for HTTP/3, and selects the requests that use them.
// Package schemes/http/h3 returns values of this type, so that other programs do
// not link QUIC. Only packages of this module implement it.
type HTTP3 interface{ message.Transport }

// A Negotiator makes the tokens for the method Negotiate (RFC 4559). The package
// schemes/http/negotiate implements it with Kerberos. Its methods are called by
// several goroutines at the same time.
type Negotiator interface {
	// Servers returns the hosts and ports to which Token connects. The Policy
	// treats them as addresses of the configuration.
	Servers() []string

	// Token returns a token for one request to a host. It connects only with
	// dial. The login may have an empty user name.
	Token(ctx context.Context, dial func(ctx context.Context, addr string) (net.Conn, error), host string, login *fetch.Credential) (string, error)
}

// Schemes returns the schemes http, https, dav and davs with the settings opts.
// They share the same cookie jar.
func Schemes(opts Options) []fetch.Scheme {
	return []fetch.Scheme{newScheme("http", 80, &opts), newScheme("https", 443, &opts), newDAVScheme("dav", &opts), newDAVScheme("davs", &opts)}
}

func newScheme(name string, port uint16, opts *Options) fetch.Scheme {
	s := fetch.Scheme{
		Name:   name,
		Port:   port,
		Help:   help,
		Ports:  scheme.Ports{Class: scheme.WebPorts},
		Traits: scheme.Traits{Web: true, ReportsSize: true, Backslash: true, Listing: scheme.Directory, Parents: scheme.Folders},
		Mirror: scheme.Mirroring{Record: scheme.RecordWire, Files: scheme.FileNames{Listing: "index.html", Pages: true}},
		Robots: scheme.Robots{File: "/robots.txt"},
		Proxy:  scheme.ByDriver,
		Plan:   func(req *fetch.Request) ([]scheme.Step, error) { return plan(req, port, opts) },
		Menu:   menu,
		Open:   func(env fetch.Env) fetch.Driver { return newDriver(env, port, opts) },
	}
	s.Trust = opts.trusted()
	if s.Secure = port == webPorts["https"]; s.Secure {
		s.Links = scheme.Links{To: []string{"https"}, Downgrade: []string{"http"}}
	} else { // links to these schemes are allowed, as in curl, wget and lynx
		s.Links.To = []string{"http", "https", "ftp", "ftps"}
		s.Ports.Extra = []uint16{443}
	}
	return s
}

// trusted returns the servers of the configuration to which requests connect.
func (o *Options) trusted() []string {
	if o.Negotiator == nil {
		return nil
	}
	return o.Negotiator.Servers()
}
