// Package scheme defines the types of the fields of fetch.Scheme. They describe
// the ports, links and traits of a URL scheme, the steps of its plans, and its
// rules for proxies, robots and mirrors. The zero value of each type is the
// safe default.
package scheme

import "github.com/anyurl/fetch/uri"

// Ports lists the ports that a scheme may use in addition to the default port.
type Ports struct {
	Extra []uint16  // further ports of the same service
	Peer  []uint16  // ports below 1024 of other services on the same server, for Net.DialPeer
	Class PortClass // rule for all other ports, mainly those above 1023
}

// A PortClass determines which ports above 1023 a scheme may use, in addition
// to its own ports. The field Policy.Ports of package fetch adds exceptions.
type PortClass uint8

const (
	OwnPorts     PortClass = iota // only the default port and Ports.Extra
	TextPorts                     // all except the ports of known services
	WebPorts                      // all that browsers do not block; also below 1024 if the user entered the URL
	SessionPorts                  // TextPorts if the user entered the URL, and OwnPorts otherwise
)

// String returns the name of the class, such as "own", for tables.
func (c PortClass) String() string {
	return [...]string{"own", "text", "web", "session"}[min(c, SessionPorts)]
}

// Links contains the rules for links in documents of a scheme. The Policy of
// package fetch applies them.
type Links struct {
	To        []string // schemes to which the documents may link
	Downgrade []string // further schemes if Policy.Downgrade is true
	OwnPort   bool     // links to other schemes must use the default port

	// If Confined is true, only documents of the schemes in From may link to
	// this scheme. No Policy overrides this rule.
	Confined bool
	From     []string
}

// Traits describes properties of a scheme that callers and middlewares use. Its
// functions have no side effects.
type Traits struct {
	Web             bool // requests and responses are HTTP messages
	Files           bool // the path of a URL is a path on this machine
	Mailbox         bool // listings belong to the user, and their URLs are as trusted as the listing
	UserKeys        bool // requests log in with the private keys of the user
	Session         bool // URLs open sessions
	ControlConn     bool // commands and objects use different connections
	WeakValidators  bool // validators consist of size and time, so that two versions may share one
	ListsExactSizes bool // sizes in listings equal the sizes of the retrieved objects
	Feedback        bool // searches can request documents that are similar to other documents
	ReportsSize     bool // Response.Size 0 means an empty object; otherwise 0 means an unknown size
	HostOptional    bool // URLs may have no host, although the scheme has a default port
	Embedded        bool // URLs contain their objects, so that documents do not link to them
	Backslash       bool // browsers treat a backslash in a path as a slash (URL Standard, special schemes)

	Listing ListingType // determines how programs call a listing

	// Parents returns the listings above u, such as parent folders, from the
	// root of the server to the parent. It returns nil for the root. If Parents
	// is nil, URLs are not below listings. [Folders] and [Levels] are values for
	// common forms of paths.
	Parents func(u uri.URI) []uri.URI

	// Message returns the URL of the message with an identifier, or of a
	// newsgroup, on the server of u. The identifier has no angle brackets. If
	// Message is nil, messages have mid URLs, and there are no newsgroups.
	Message func(u uri.URI, id string) (uri.URI, error)
}

// ProxyUse selects how a scheme uses an HTTP proxy from the environment
// variables.
type ProxyUse uint8

const (
	ByGateway ProxyUse = iota // the variable SCHEME_proxy names a gateway, as in lynx
	ByDriver                  // the driver uses the proxy, or the scheme has no network
	ByRequest                 // the proxy receives the URL, unless the user requires a tunnel
)

// Robots describes where a site has its rules for robots, such as robots.txt.
type Robots struct {
	File string // path of robots.txt, or "" if there are no rules
	Caps string // path of caps.txt of Gopher, or ""

	// Path returns the text that is compared with the rules for the URL u. It
	// returns false if retrieving u sends no request to the site. If Path is
	// nil, the text is the path and the query of u.
	Path func(u uri.URI) (string, bool)
}

// Mirroring describes how package mirror treats the URLs and listings of a
// scheme.
type Mirroring struct {
	Alias      bool      // URLs refer to objects of other schemes, which are mirrored instead
	References bool      // listings name objects on any server, not only below their own URL
	Repeats    bool      // paths may contain the same segment many times
	Record     Recording // the part of an exchange to archive
	Files      FileNames // names of the files in the tree of an archive

	// Place returns u without the parts that do not affect the location of the
	// object, such as the type of a Gopher item. If Place is nil, all parts
	// affect the location.
	Place func(u uri.URI) uri.URI

	// Subtree returns the URL prefix of all objects below u. It returns false
	// if the prefix is the folder of u. If Subtree is nil, the prefix is always
	// the folder.
	Subtree func(u uri.URI) (below uri.URI, ok bool)

	// Immutable reports whether the object at u never changes. If Immutable is
	// nil, all objects may change.
	Immutable func(u uri.URI) bool

	// Article returns two URLs of an article in a newsgroup: the immutable URL
	// of the article, and the URL with its number in the newsgroup. The
	// parameters entry and extra are the fields URL and Extra of the Entry in
	// the listing of the newsgroup. The result ok is false if the article has no
	// immutable URL. If Article is nil, the scheme has no newsgroups.
	Article func(group, entry uri.URI, extra map[string]string) (lasting uri.URI, number string, ok bool)
}

// FileNames describes the names of the files that package mirror writes for the
// URLs of a scheme. Archives keep their names. Therefore a program must not
// change the FileNames of a scheme later.
type FileNames struct {
	Host    string // directory of URLs without a host, or "" for "@"
	Listing string // file name of a listing, such as "index.html"; "" means ".listing"
	Pages   bool   // listings are pages of a site: a URL names one only if it ends in a slash
	Native  bool   // the segments of a path are file names, which keep all characters that file systems allow

	// Path returns the part of the path of u that names the file, and reports
	// whether every object at u is a listing. If Path is nil, this part is the
	// complete path, and Response.Kind determines the listings.
	Path func(u uri.URI) (path string, listing bool)
}

// A Recording selects the protocol messages that a mirror archives with the
// retrieved object.
type Recording uint8

const (
	RecordPlan    Recording = iota // the Plan, because the driver reports no bytes
	RecordWire                     // all bytes
	RecordLines                    // the lines of both sides; the object uses another connection
	RecordReplies                  // the bytes sent, and the first line of each reply
	RecordSent                     // the bytes sent
)
