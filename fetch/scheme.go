package fetch

import (
	"io"
	"iter"

	"github.com/anyurl/fetch/uri"
)

// A Scheme describes a URL scheme. The zero value of each field is safe: by
// default, documents lead nowhere, and URLs name servers at the default port.
// Plan, Menu, Query and User are pure functions.
type Scheme struct {
	Name  string   // in lower case, such as "gopher"
	Port  uint16   // default port; 0 if the scheme has no network or no host
	Trust []string // configured servers as host:port, such as news servers and mail stores
	Help  string   // syntax of the URLs and description of the options, for the user

	// The Policy uses these fields. See [Policy] for its rules.
	Ports  Ports
	Links  Links
	Local  bool // its URLs read data of the user, such as files or mail stores
	Secure bool // its connections use TLS

	// Gateway is true if a gateway serves the URLs. The address in such a URL
	// is then not the address of the server that sent the document.
	Gateway bool

	Traits Traits
	Proxy  ProxyUse
	Robots Robots
	Mirror Mirroring

	// Plan returns the protocol actions for req. It returns an error if the
	// scheme does not define the URL. Nil means that the scheme has no plans.
	Plan func(req *Request) ([]Step, error)

	// Open returns the driver. A Client calls it at most once. It opens no
	// connection. Nil means that the scheme is not supported.
	Open func(Env) Driver

	// Menu parses a listing and yields its entries with absolute URLs. Media
	// is Response.Media, with parameters. An error ends the sequence. Nil means
	// that the scheme has no listings.
	Menu func(base uri.URI, media string, r io.Reader) iter.Seq2[Entry, error]

	// Query returns the URL that sends q to the index u. Nil means that the
	// scheme has no indexes.
	Query func(u uri.URI, q Search) (uri.URI, error)

	// User parses the userinfo of u. Nil means that it has the form
	// NAME:PASSWORD, as in [CredentialOf].
	User func(u uri.URI) (*Credential, error)
}

// Ports are the ports that a scheme may use besides the default port.
type Ports struct {
	Extra []uint16  // further ports of the same service
	Class PortClass // rule for ports above 1023
}

// A PortClass is the rule of a scheme for ports above 1023. [Policy.Ports] has
// exceptions.
type PortClass uint8

const (
	OwnPorts     PortClass = iota // only the default port and Ports.Extra
	TextPorts                     // all except the ports of known services
	WebPorts                      // all except the ports that browsers block
	SessionPorts                  // as TextPorts in a typed URL, and as OwnPorts in others
)

// String returns the name of c for tables.
func (c PortClass) String() string {
	return [...]string{"own", "text", "web", "session"}[min(c, SessionPorts)]
}

// Links are the rules for URLs in documents of a scheme.
type Links struct {
	To        []string // schemes to which the documents may lead
	Downgrade []string // further schemes if Policy.Downgrade is true
	OwnPort   bool     // URLs of other schemes must have their default port

	// Confined means that only documents of the schemes in From may lead to
	// this scheme. No Policy overrides this rule.
	Confined bool
	From     []string
}

// Traits are properties of a scheme for callers and middlewares.
type Traits struct {
	Web             bool // requests and responses are HTTP messages
	Files           bool // the path of a URL is a path on this machine
	Mailbox         bool // listings belong to the user, and their URLs are as trusted as the listing
	Session         bool // URLs open sessions
	ControlConn     bool // commands and objects use different connections
	WeakValidators  bool // validators consist of size and time, so that two versions may share one
	ListsExactSizes bool // sizes in listings equal the sizes of the retrieved objects
	ReportsSize     bool // Response.Size 0 means an empty object; otherwise 0 means an unknown size
}

// ProxyUse is the way in which a scheme uses an HTTP proxy of the environment.
type ProxyUse uint8

const (
	ByGateway ProxyUse = iota // the variable SCHEME_proxy names a gateway, as in lynx
	ByDriver                  // the driver uses the proxy, or the scheme has no network
	ByRequest                 // the proxy receives the URL, unless the user requires a tunnel
)

// Robots describes where the sites of a scheme have their rules for robots.
type Robots struct {
	File string // path of robots.txt, or "" if there are no rules
	Caps string // path of caps.txt of Gopher, or ""

	// Path returns the text to which the rules apply. It returns false if u
	// sends no request to the site. Nil means the path and the query of u.
	Path func(u uri.URI) (string, bool)
}

// Mirroring describes how a mirror treats the URLs and listings of a scheme.
type Mirroring struct {
	Alias      bool      // URLs refer to objects of other schemes, which are mirrored instead
	References bool      // listings name objects on any server, not only below their own URL
	Repeats    bool      // paths may contain the same segment many times
	Record     Recording // the part of an exchange to archive

	// Place returns u without the parts that do not affect the location of the
	// object. Nil means that all parts affect it.
	Place func(u uri.URI) uri.URI

	// Subtree returns the URL prefix of all objects below u. It returns false
	// if the prefix is the folder of u. Nil always means the folder.
	Subtree func(u uri.URI) (below uri.URI, ok bool)

	// Immutable reports whether the object u never changes. Nil means that all
	// objects may change.
	Immutable func(u uri.URI) bool

	// Article returns the immutable URL of an article and the URL of its
	// number in the newsgroup u. The article is the entry e of the group. Ok is
	// false if the article has no immutable URL. Nil means that the scheme has
	// no newsgroups.
	Article func(u uri.URI, e Entry) (lasting uri.URI, number string, ok bool)
}

// A Recording is the part of an exchange that a mirror archives in addition to
// the object.
type Recording uint8

const (
	RecordPlan    Recording = iota // the Plan, because the driver reports no bytes
	RecordWire                     // all bytes
	RecordLines                    // the lines of both sides; the object uses another connection
	RecordReplies                  // the bytes sent, and the first line of each reply
	RecordSent                     // the bytes sent
)
