// Package nntp dereferences news, nntp, snews and nntps URLs: articles of
// Usenet, groups, ranges of articles and lists of groups.
//
// Call Schemes and give the result to fetch.New. All four names take the same
// paths, and differ in TLS and in how their listings name articles:
//
//	news:ID@HOST          an article by its message-id
//	nntp://H/GROUP/7      an article by its number on server H
//	nntp://H/GROUP/7-20   articles in one batch; "7-" has no end
//	news:GROUP            the group's overview, a listing
//	news:comp.*           the groups that a wildmat matches, a listing
//	news:                 every group
//
// A URL without a host is for Options.Server. snews and nntps speak TLS from
// the first byte.
//
// RFC 5538 and RFC 1738 3.6, 3.7 (URLs; ranges are ours), RFC 3977 (NNTP),
// RFC 2980 (older servers), RFC 4642 (STARTTLS), RFC 4643 (AUTHINFO), RFC 8054
// (COMPRESS).
package nntp

import "github.com/anyurl/fetch/fetch"

// Options say which server is asked, for what, and how. The zero value is
// right where every URL has a host.
type Options struct {
	// Server is asked where a URL names no host: "news.example.org", with a
	// port behind a colon, or a URL whose scheme says whether TLS comes first
	// ("snews://news.example.org/"). It holds no password.
	Server string

	View     View   // of articles and groups
	Field    string // list a group by this header field, or ":bytes" and the like, alone (HDR)
	Describe bool   // list groups by their descriptions (LIST NEWSGROUPS)

	// What is left out where a URL names many articles. Request.Since leaves out
	// of a listing what the server had before (NEWNEWS, NEWGROUPS).
	After uint64 // articles up to this number
	Marks *Marks // what an earlier run has brought; nil: nothing

	// TLS is the mode of news and nntp (RFC 4642), by default before a password
	// and where the server insists. Snews and nntps are always encrypted.
	TLS           fetch.TLSMode
	ClearPassword bool // a password may go over a connection without TLS
	Compress      Compress
}

// The kinds of [fetch.Override] for the options of this package.
const (
	OverrideServer        fetch.OverrideKind = "nntp.Options.Server"
	OverrideClearPassword fetch.OverrideKind = "nntp.Options.ClearPassword"
)

// A View is what is wanted of the articles that a URL names.
type View uint8

const (
	Whole    View = iota // an article as it is stored; a group as its overview
	Head                 // the head of an article
	Body                 // the body of an article
	Overview             // the overview of whatever articles are named, a listing
	Articles             // as Whole, but a group as a batch of its articles
)

// Compress says which answers come compressed where a server can do that
// (RFC 8054): short ones never do.
type Compress uint8

const (
	CompressListings Compress = iota // which shrink to a fifth
	CompressNever
	CompressAlways // articles too: for slow lines
)

// Schemes returns news, nntp, snews and nntps.
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

// The ports of RFC 3977 and RFC 4642.
const (
	clearPort = 119
	tlsPort   = 563
)

func (o Options) scheme(name string, implicit bool) fetch.Scheme {
	s := fetch.Scheme{
		Name:   name,
		Port:   clearPort,
		Help:   help,
		Secure: implicit,
		Ports:  fetch.Ports{Extra: []uint16{119, 433, 563}, Class: fetch.TextPorts},
		Links:  fetch.Links{To: []string{"news", "nntp", "snews", "nntps"}},
		Traits: fetch.Traits{ReportsSize: true},
		Mirror: mirroring(name),
		Plan:   func(req *fetch.Request) ([]fetch.Step, error) { return o.plan(req, implicit) },
		Open:   func(env fetch.Env) fetch.Driver { return newDriver(o, env, implicit) },
		Menu:   menu,
	}
	if implicit {
		s.Port = tlsPort
		s.Links.To = []string{"snews", "nntps"}
	}
	if at, err := o.server(implicit); err == nil {
		s.Trust = []string{at.Address()}
	}
	return s
}
