package fetch

import (
	"io"
	"iter"

	"github.com/anyurl/fetch/uri"
)

// A Scheme holds all data about one URL scheme. The zero value of each field
// is the safe one: documents of a scheme without data lead nowhere, and its
// URLs name servers on the network at its own port. Plan, Menu, Query and User
// are pure, so that they are tested, fuzzed and shown without a network.
type Scheme struct {
	Name  string   // in lower case: "gopher"
	Port  uint16   // of URLs without a port; 0: no network, or no host of its own
	Trust []string // host:port that the configuration named: news server, mail store
	Help  string   // the form of its URLs and its options, for the user

	// The Policy reads these fields. [Policy] tells the rules.
	Ports  Ports
	Links  Links
	Local  bool // its URLs read data of the user: files or mail stores
	Secure bool // its connections are under TLS

	// Gateway says that a gateway answers for its URLs. The address that such a
	// URL spells is not that of the server that sent the page.
	Gateway bool

	Traits Traits
	Proxy  ProxyUse
	Robots Robots
	Mirror Mirroring

	// Plan returns the protocol actions that dereference req. It rejects URLs
	// that the scheme does not define. Nil: there is no plan to show.
	Plan func(req *Request) ([]Step, error)

	// Open makes the driver. It is called once per Client, opens no
	// connection, and is the only field with effects. Nil: the scheme is known
	// and not supported.
	Open func(Env) Driver

	// Menu reads a listing that Plan's actions returned, as entries whose URLs
	// are absolute. Media is that of the Response, with its parameters. Nil: the
	// scheme has no listings. An error ends the sequence.
	Menu func(base uri.URI, media string, r io.Reader) iter.Seq2[Entry, error]

	// Query returns the URL that sends q to the index u. Nil: the scheme
	// cannot be searched.
	Query func(u uri.URI, q Search) (uri.URI, error)

	// User reads the userinfo of u. Nil: it is NAME:PASSWORD, as in
	// [CredentialOf].
	User func(u uri.URI) (*Credential, error)
}

// Ports are the ports that a scheme may use besides its own.
type Ports struct {
	Extra []uint16  // ports of the same service
	Class PortClass // rules for the ports above 1023
}

// A PortClass is the rule of a scheme for ports above 1023. [Policy.Ports]
// makes exceptions.
type PortClass uint8

const (
	OwnPorts     PortClass = iota // none
	TextPorts                     // all, except those of other services
	WebPorts                      // all, except those that browsers refuse
	SessionPorts                  // as TextPorts in a typed URL; none where a server supplied the URL
)

// String returns the name of c in tables.
func (c PortClass) String() string {
	return [...]string{"own", "text", "web", "session"}[min(c, SessionPorts)]
}

// Links are the rules for URLs that documents of a scheme supply.
type Links struct {
	To        []string // schemes that its documents may lead to
	Downgrade []string // more of them under Policy.Downgrade, and only then
	OwnPort   bool     // its documents lead to other schemes at their default port alone

	// Confined restricts documents that lead to this scheme: their scheme
	// must stand in From, whatever its own To says. No Policy changes that.
	Confined bool
	From     []string
}

// Traits are facts about a scheme that callers and middlewares rely on.
type Traits struct {
	Web             bool // requests and responses are HTTP messages
	Files           bool // the path of its URL is a path of this machine
	Mailbox         bool // its listings are the user's own: their URLs are as trusted as the listing's
	Session         bool // its URLs open sessions
	ControlConn     bool // commands and replies are lines on another connection than the object
	WeakValidators  bool // its validators are a size and a time, which two versions may share
	ListsExactSizes bool // sizes in its listings are those of the retrieved objects
	ReportsSize     bool // a Response.Size of zero means an empty object; else the driver may have left it out
}

// ProxyUse says which part an HTTP proxy of the environment has for a scheme.
type ProxyUse uint8

const (
	ByGateway ProxyUse = iota // SCHEME_proxy names a gateway, as in lynx
	ByDriver                  // the driver uses the proxy, or there is no network
	ByRequest                 // the proxy is sent the URL, unless the user wants a tunnel
)

// Robots says where a site of a scheme keeps its rules for robots.
type Robots struct {
	File string // path of robots.txt; "": there are no rules
	Caps string // path of caps.txt, as Gopher has it; "": none

	// Path returns the text that the rules apply to, and false if u sends no
	// request to the site. Nil: path and query of u.
	Path func(u uri.URI) (string, bool)
}

// Mirroring says how a mirror treats the URLs and listings of a scheme.
type Mirroring struct {
	Alias      bool      // its URLs look objects of other schemes up, which are mirrored in their place
	References bool      // its listings name objects of any server, and not what lies below their URL
	Repeats    bool      // one segment may occur in its paths again and again
	Record     Recording // of an exchange
	Talk       string    // the conversation has the media type text/x-TALK-conversation; "": Name

	// Place returns u without the parts that do not say where it lies. Nil: all
	// parts say so.
	Place func(u uri.URI) uri.URI

	// Below returns the URL that begins the URLs of all objects below u. It is
	// false if that is the folder of u. Nil: it always is.
	Subtree func(u uri.URI) (below uri.URI, ok bool)

	// Lasting reports whether u names an object that never changes. Nil: no
	// URL does.
	Immutable func(u uri.URI) bool

	// Article returns the lasting URL of an article, which is the entry e of
	// the newsgroup u, and the URL of its number there. It is false if it has no
	// lasting URL. Nil: no URL of the scheme names a newsgroup.
	Article func(u uri.URI, e Entry) (lasting uri.URI, number string, ok bool)
}

// A Recording is the part of an exchange that the archive of a mirror holds
// beside the object.
type Recording uint8

const (
	RecordPlan    Recording = iota // the Plan, because the driver reports no exchange
	RecordWire                     // each byte
	RecordLines                    // the lines of both sides: the object came another way
	RecordReplies                  // the bytes sent, and the first line of each reply
	RecordSent                     // the bytes sent
)
