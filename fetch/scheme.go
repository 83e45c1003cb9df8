package fetch

import (
	"io"
	"iter"

	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/uri"
)

// A Scheme describes a URL scheme and its driver. The zero value of each field
// is the safe default. For example, documents may then link to no other scheme,
// and URLs may use only the default port. The functions Plan, Menu, Query and
// User have no side effects.
type Scheme struct {
	Name  string   // in lower case, such as "gopher"
	Port  uint16   // default port; 0 if the scheme has no network or no host
	Trust []string // configured servers as host:port, such as news servers and mail stores; a scheme with Port 0 may redirect to them
	Help  string   // syntax of the URLs and description of the options, for the user

	// The [Policy] uses the following fields.
	Ports  scheme.Ports
	Links  scheme.Links
	Local  bool // its URLs read data of the user, such as files or mail stores
	Secure bool // its connections use TLS

	// If Gateway is true, URLs of the scheme are requested through a gateway.
	// The address in the URL of a document is then not the address of the
	// server that sent the document.
	Gateway bool

	Traits scheme.Traits
	Proxy  scheme.ProxyUse
	Robots scheme.Robots
	Mirror scheme.Mirroring

	// Plan returns the protocol actions for req. It returns an error if the URL
	// is invalid for the scheme. If Plan is nil, the scheme does not support
	// plans.
	Plan func(req *Request) ([]scheme.Step, error)

	// Open returns the driver. A Client calls Open at most once. Open must not
	// open a connection. If Open is nil, the scheme is not supported.
	Open func(Env) Driver

	// Menu parses a listing and returns an iterator over its entries, which
	// have absolute URLs. The parameter media is Response.Media. An error ends
	// the iteration. If Menu is nil, the scheme has no listings.
	Menu func(base uri.URI, media string, r io.Reader) iter.Seq2[Entry, error]

	// Query returns the URL of a search for q in the searchable index at u. If
	// Query is nil, the scheme has no searchable indexes. Callers use Search,
	// which checks q first.
	Query func(u uri.URI, q Search) (uri.URI, error)

	// User parses the user name and password in a URL. If User is nil, they
	// have the form NAME:PASSWORD, as in [CredentialOf].
	User func(u uri.URI) (*Credential, error)
}

// Search returns the URL of a search for q in the searchable index at u. The
// query q must have words, or similar documents if the scheme has
// Traits.Feedback.
func (s Scheme) Search(u uri.URI, q Search) (uri.URI, error) {
	switch {
	case s.Query == nil:
		return uri.URI{}, Unsupported.Errorf("scheme %s cannot be searched", s.Name)
	case len(q.Like) > 0 && !s.Traits.Feedback:
		return uri.URI{}, Unsupported.Errorf("%s does not support relevance feedback", s.Name)
	case len(q.Like) == 0 && q.Words == "":
		return uri.URI{}, NeedQuery.Errorf("search requires search words")
	}
	return s.Query(u, q)
}

// NeedsHost reports whether URLs of the scheme are invalid without a host.
func (s Scheme) NeedsHost() bool { return s.Port != 0 && !s.Traits.HostOptional }
