// Package nntp implements the URL schemes news, nntp, snews and nntps. They
// retrieve articles of Usenet and listings of newsgroups.
//
// Call [Schemes] and pass the result to [fetch.New]. All four schemes accept
// the same paths. They differ in the use of TLS and in the URLs of the articles
// in their listings.
//
//	news:ID@HOST          an article, by its message-id
//	nntp://H/GROUP/7      an article, by its number on the server H
//	nntp://H/GROUP/7-20   a range of articles as one batch; "7-" is a range without an end
//	news:GROUP            a listing of the articles in a group
//	news:comp.*           a listing of the groups that match a wildmat
//	news:                 a listing of all groups
//
// URLs without a host use the server in Options.Server. Connections of snews
// and nntps URLs always use TLS. [fetch.Request].Since limits listings to
// articles and groups that reached the server after a time (NEWNEWS, NEWGROUPS).
//
// The package implements RFC 5538 and RFC 1738 3.6 and 3.7 (URLs), RFC 3977
// (NNTP), RFC 2980 (older servers), RFC 4642 (STARTTLS), RFC 4643 (AUTHINFO)
// and RFC 8054 (COMPRESS). Ranges of articles are an extension of RFC 5538.
package nntp

import (
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/override"
	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/uri"
)

// Options configures the schemes news, nntp, snews and nntps. The zero value is
// valid for URLs with a host.
type Options struct {
	// Server is the news server for URLs without a host. It is a host with an
	// optional port, or the URL of a server, such as
	// "snews://news.example.org/". The scheme of the URL selects TLS. Server
	// must not contain a password.
	Server string

	// View selects complete articles, parts of articles, or listings.
	View View

	// Field is the name of a header field or a metadata item, such as "Subject"
	// or ":bytes". If Field is not empty, the listing of a group contains only
	// this field of each article (HDR).
	Field string

	// If Describe is true, lists of groups contain the descriptions of the
	// groups (LIST NEWSGROUPS).
	Describe bool

	// After is an article number. Listings and ranges contain only articles
	// with higher numbers.
	After uint64

	// Marks, if not nil, contains the last article that earlier runs retrieved
	// from each group. Listings and ranges exclude articles up to the mark of
	// their group.
	Marks *Marks

	// TLS is the TLS mode of news and nntp URLs (RFC 4642). By default, the
	// driver uses TLS before it sends a password and if the server requires
	// TLS.
	TLS scheme.TLSMode

	// If ClearPassword is true, the driver may send passwords in plaintext.
	ClearPassword bool

	// Compress selects the responses for which the driver requests compression.
	Compress Compress
}

// The kinds of [override.Setting] for the options of this package.
const (
	OverrideServer        override.Kind = "nntp.Options.Server"
	OverrideClearPassword override.Kind = "nntp.Options.ClearPassword"
)

// A View selects the contents of a response: complete articles, parts of
// articles, or a listing.
type View uint8

const (
	Complete View = iota // complete articles; the URL of a group returns a listing
	Head                 // article headers; the URL of a group returns a listing
	Body                 // article bodies; the URL of a group returns a listing
	Overview             // listings of articles, even for a single article
	Articles             // complete articles, even for the URL of a group
)

// Compress selects the responses that the server compresses (RFC 8054).
// Responses for few articles are never compressed.
type Compress uint8

const (
	CompressListings Compress = iota // listings, which shrink to about a fifth of their size
	CompressNever                    // no responses
	CompressAlways                   // listings and batches of articles, for slow connections
)

// Schemes returns the schemes news, nntp, snews and nntps.
func Schemes(opts Options) []fetch.Scheme {
	names := []struct {
		name     string
		implicit bool
	}{{"news", false}, {"nntp", false}, {"snews", true}, {"nntps", true}}
	var all []fetch.Scheme
	for _, n := range names {
		all = append(all, opts.scheme(n.name, n.implicit))
	}
	return all
}

// Default ports (RFC 3977, RFC 4642).
const (
	plaintextPort = 119
	tlsPort       = 563
)

func (o Options) scheme(name string, implicit bool) fetch.Scheme {
	isNews := name == "news" || name == "snews"
	s := fetch.Scheme{
		Name:   name,
		Port:   plaintextPort,
		Help:   help,
		Secure: implicit,
		Ports:  scheme.Ports{Extra: []uint16{119, 433, 563}, Class: scheme.TextPorts},
		Links:  scheme.Links{To: []string{"news", "nntp", "snews", "nntps"}},
		Traits: scheme.Traits{ReportsSize: true, HostOptional: isNews, Listing: scheme.Newsgroup,
			Message: func(u uri.URI, id string) (uri.URI, error) { return messageURL(u, id, implicit) }},
		Mirror: mirrorRules(isNews),
		Plan:   func(req *fetch.Request) ([]scheme.Step, error) { return o.plan(req, implicit) },
		Open:   func(env fetch.Env) fetch.Driver { return newDriver(o, env, implicit) },
		Menu:   menu,
	}
	if !isNews {
		s.Traits.Parents = scheme.Levels
	}
	if implicit {
		s.Port = tlsPort
		s.Links.To = []string{"snews", "nntps"}
	}
	if e, err := o.defaultEndpoint(implicit); err == nil {
		s.Trust = []string{e.Address()}
	}
	return s
}
