// Package ipfs implements the scheme ipfs: files and directories of IPFS. It
// reads them from a trustless gateway, and compares each block with its content
// identifier (CID) before it returns a byte of it. The gateway can therefore
// withhold objects, but not change them.
//
// Pass the result of [Schemes] to fetch.New. The address of the gateway comes only
// from [Options]; there is no default.
//
// The objects are UnixFS files and directories, also sharded ones, whose blocks
// have sha2-256, sha3, identity or, with an option, BLAKE2b-256 digests. Symbolic links are not
// followed. Specifications: https://specs.ipfs.tech/http-gateways/trustless-gateway/
// and https://specs.ipfs.tech/unixfs/.
package ipfs

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/override"
	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/internal/format/entries"
	"github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/uri"
)

// Options configures the scheme ipfs.
type Options struct {
	// Gateway is the URL of a trustless gateway, such as http://127.0.0.1:8080.
	// A path in it comes before /ipfs/. If Gateway is "", requests fail.
	Gateway string

	// Blake2b computes digests of BLAKE2b-256, such as blake2b.Sum256 of the module
	// golang.org/x/crypto. If it is nil, objects with such digests are not
	// supported.
	Blake2b func(block []byte) [32]byte

	// HTTP has the settings of the HTTP requests.
	HTTP http.Options
}

// OverrideGateway is the [override.Kind] for a request without a gateway.
const OverrideGateway override.Kind = "ipfs.Options.Gateway"

// Schemes returns the scheme ipfs.
func Schemes(o Options) []fetch.Scheme {
	g, err := parseGateway(o.Gateway)
	var trust []string
	if err == nil {
		trust = []string{g.address} // the user has configured the gateway
	}
	if o.HTTP.HTTP3 != nil {
		o.HTTP.HTTP3 = gatewayOnly{o.HTTP.HTTP3}
	}
	return []fetch.Scheme{{
		Name:   "ipfs",
		Port:   port,
		Trust:  trust,
		Help:   help,
		Ports:  scheme.Ports{Class: scheme.WebPorts},
		Links:  scheme.Links{To: []string{"ipfs"}, Confined: true, From: []string{"ipfs"}},
		Secure: g.secure,
		Traits: scheme.Traits{ReportsSize: true, ListsExactSizes: true, Listing: scheme.Directory, Parents: scheme.Folders},
		Mirror: scheme.Mirroring{Files: scheme.FileNames{Native: true}, Immutable: func(uri.URI) bool { return true }},
		Proxy:  scheme.ByDriver,
		Plan:   func(req *fetch.Request) ([]scheme.Step, error) { return plan(req, g) },
		Menu:   entries.Menu,
		Open: func(env fetch.Env) fetch.Driver {
			o.HTTP.PathAsIs, o.HTTP.Compressed, o.HTTP.Jar, o.HTTP.Legacy = true, false, nil, http.Legacy{}
			if env.Login = nil; env.TLS != nil { // logins and certificates are not for a gateway
				env.TLS = env.TLS.Clone()
				env.TLS.Certificates, env.TLS.GetClientCertificate, env.TLS.ClientSessionCache = nil, nil, nil
			}
			d := &driver{env: env, gateway: g, err: err, verifier: verifier{o.Blake2b}}
			for _, web := range http.Schemes(o.HTTP) {
				if strings.HasPrefix(g.origin, web.Name+":") {
					d.web = web.Open(env)
				}
			}
			return d
		},
	}}
}

// A gatewayOnly is HTTP/3 without alternative services, because the gateway is the
// only address to which an ipfs URL leads.
type gatewayOnly struct{ http.HTTP3 }

func (g gatewayOnly) Addresses(ctx context.Context, host string, port uint16, own string) []string {
	all := g.HTTP3.Addresses(ctx, host, port, own)
	return slices.DeleteFunc(all, func(addr string) bool { return addr != own })
}

// port is the port of https, because ipfs URLs have none of their own.
const port = 443

// A gateway is the address of the configured gateway.
type gateway struct {
	origin  string // such as http://HOST:PORT
	path    string // before /ipfs/, without a final slash
	address string // host and port
	secure  bool   // uses TLS
}

// parseGateway parses the URL of a gateway.
func parseGateway(text string) (gateway, error) {
	if text == "" {
		err := fetch.Usage.Errorf("no gateway for ipfs URLs is configured")
		return gateway{secure: true}, override.With(err, override.Setting{Kind: OverrideGateway})
	}
	u, err := uri.Parse(text)
	_, hasQuery := u.Query()
	_, hasFragment := u.Fragment()
	defaultPort := map[string]uint16{"http": 80, "https": 443}[u.Scheme()]
	if err != nil || defaultPort == 0 || u.Host() == "" || u.Parts().HasUserinfo || hasQuery || hasFragment || strings.Contains(u.Path()+"/", "/../") {
		return gateway{secure: true}, fetch.Usage.Errorf("the gateway of ipfs must be http://HOST:PORT or https://HOST, without a login and a query")
	}
	t, err := fetch.TargetOf(u, defaultPort)
	if err != nil {
		return gateway{secure: true}, err
	}
	authority, _ := u.Authority()
	return gateway{
		origin: u.Scheme() + "://" + authority, path: strings.TrimRight(u.Path(), "/"),
		address: t.Address(), secure: u.Scheme() == "https",
	}, nil
}

// A locator is a parsed URL.
type locator struct {
	root      cid
	sensitive bool     // the case of letters in the host is significant
	path      []string // names below the root
	list      bool     // the URL names a directory
}

const (
	maxPath  = 4000 // bytes of a path
	maxNames = 1000 // in a path
)

// locate parses an ipfs URL.
func locate(u uri.URI) (l locator, err error) {
	if u.Parts().HasUserinfo || u.Parts().Port != "" || u.Host() == "" {
		return l, fetch.BadURL.Errorf("ipfs URL must be ipfs://CID/PATH")
	}
	if _, ok := u.Query(); ok {
		return l, fetch.BadURL.Errorf(`ipfs URL must not have a query: write "?" as %%3F`)
	}
	if l.root, l.sensitive, err = parseText(u.Host()); err != nil {
		advice := ""
		if len(u.Host()) == 46 && strings.HasPrefix(strings.ToLower(u.Host()), "qm") {
			advice = ": upper and lower case differ in it"
		}
		return l, fetch.BadURL.Errorf("%w%s", err, advice)
	}
	path := strings.TrimPrefix(u.Path(), "/")
	l.list = u.Path() != "" && (path == "" || strings.HasSuffix(path, "/"))
	if path = strings.TrimSuffix(path, "/"); path == "" {
		return l, nil
	}
	if len(path) > maxPath || strings.Count(path, "/") >= maxNames {
		return l, fetch.BadURL.Errorf("path longer than %d bytes or %d names", maxPath, maxNames)
	}
	for segment := range strings.SplitSeq(path, "/") {
		name, err := uri.Unescape(segment)
		if err != nil {
			return l, fetch.BadURL.With(err)
		}
		if !isName(name) {
			return l, fetch.BadURL.Errorf("%.100q is not a name of an entry", name)
		}
		l.path = append(l.path, name)
	}
	return l, nil
}

// isName reports whether an entry with the name can be part of a URL. Programs
// remove the names "." and "..".
func isName(name string) bool {
	return name != "" && name != "." && name != ".." && !strings.ContainsAny(name, "/\x00")
}

// carTarget returns the path and the query of the CAR file for a request.
func (l locator) carTarget(req *fetch.Request) string {
	var b strings.Builder
	b.WriteString("/ipfs/" + l.root.String())
	for _, name := range l.path {
		b.WriteString("/" + uri.Escape(name, uri.Unreserved))
	}
	if b.WriteString("?format=car&dag-scope="); req.Op == fetch.Stat {
		b.WriteString("block")
		return b.String()
	}
	b.WriteString("entity")
	if r := req.Range; !r.IsZero() {
		end := "*"
		if r.First >= 0 && r.End > 0 {
			end = strconv.FormatInt(r.End-1, 10)
		}
		b.WriteString("&entity-bytes=" + strconv.FormatInt(r.First, 10) + ":" + end)
	}
	return b.String()
}

// plan returns the first request that the driver sends for req.
func plan(req *fetch.Request, g gateway) ([]scheme.Step, error) {
	l, err := locate(req.URL)
	if err != nil {
		return nil, err
	}
	return []scheme.Step{{Verb: "GET", Arg: g.path + l.carTarget(req)}}, nil
}
