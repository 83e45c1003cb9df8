// Package gateway serves URLs and web archives to browsers over HTTP.
//
// A [Handler] shows the captures of archives as web pages. It renders documents
// of every scheme of package fetch, such as gopher menus and news articles. It
// implements the Memento protocol (RFC 7089). With the option [Live], it also
// retrieves URLs from the network and shows them as live pages.
//
// Package gateway/replay shows archived pages with their scripts.
//
// This function shows the archive in a directory or file:
//
//	func show(ctx context.Context, path string) error {
//		l, err := gateway.Listen("localhost:8080")
//		if err != nil {
//			return err
//		}
//		archives := []gateway.Archive{{Name: "archive", Path: path}}
//		return gateway.Serve(ctx, l, gateway.Options{Schemes: schemes.All(schemes.Options{}), Archives: archives})
//	}
//
// The main routes are:
//
//	/live/URL                the object at URL, as a page; requires Options.Live
//	/raw/URL                 the bytes of the object
//	/archive/NAME/           the overview of the Archive with this Name
//	/archive/NAME/TS/URL     the capture nearest to the time TS, such as 2026 or 20261127120000
//	/archive/NAME/TSid_/URL  the bytes of the capture
//	/archive/NAME/*/URL      all captures of URL
//
// These options show live pages of the given schemes. A scheme of the program, such
// as the result of fetch.FuncScheme, is used like all others:
//
//	func liveOptions(all ...fetch.Scheme) gateway.Options {
//		newClient := func(p fetch.Policy, _ bool) (*fetch.Client, error) {
//			return fetch.New(fetch.Options{Policy: p}, all...), nil
//		}
//		return gateway.Options{Schemes: all, Live: &gateway.Live{Client: newClient}}
//	}
//
// The content of servers and archives is untrusted. The Handler serves it with a
// sandbox policy, so that it cannot run scripts or read other pages of the
// server. The links of live pages are signed, so that the policy of package
// fetch treats them as links from the page. The files doc/serving-pages.md and
// doc/serving-safety.md describe the routes and the protection.
package gateway

import (
	"cmp"
	"context"
	"iter"
	"log"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/gateway/internal/guard"
	"github.com/anyurl/fetch/internal/base/connlimit"
	"github.com/anyurl/fetch/internal/base/lazy"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/warc"
	"github.com/anyurl/fetch/warc/textindex"
)

// Options configures a Handler. The fields Address and Schemes are required.
type Options struct {
	// Address is the address of the listener. The header field Host of a
	// request must contain its port. The host must be its address, localhost,
	// 127.0.0.1 or [::1].
	Address net.Addr

	Hosts    []string       // further host names that requests may use, without a port or with the port of Address
	Base     string         // path prefix of all routes, such as "/archives", or ""
	Schemes  []fetch.Scheme // schemes of the archived URLs
	Archives []Archive
	Live     *Live // live pages, or nil to serve only the archives

	// ScriptsPage returns the URL of a page that shows a capture of u with its
	// scripts, or "" if there is none. The parameter archive is an index of
	// Archives. Archived pages of the Handler itself never run scripts. If
	// ScriptsPage is nil, captures have no link to such a page.
	ScriptsPage func(archive int, at time.Time, u uri.URI) string

	MaxRequests int // maximum number of requests that run at the same time; 0 means 128

	// ErrorLog receives messages of the server about failed connections and
	// panics, which may contain control characters. If it is nil, package log
	// prints them.
	ErrorLog *log.Logger

	// Public permits clients on other machines: Address may be any address, and
	// the limits of Client apply to each client.
	Public bool
	Client ClientLimits

	// ReverseProxies lists addresses of reverse proxies, such as 192.0.2.7/32.
	// Their field X-Forwarded-For names the client.
	ReverseProxies []netip.Prefix
}

// An Archive describes a web archive that a Handler serves.
type Archive struct {
	// Name identifies the archive in URLs, for example the base name of its
	// file. If several archives have the same name, New adds a suffix such as
	// "-2".
	Name   string
	Source *warc.Archive // the caller closes it after the last request
	Path   string        // file, or directory with WARC files, that Serve opens if Source is nil
	Seeds  []string      // URLs from which the crawl started, or nil
	Report []byte        // content of the file report.json of a mirror, or nil

	Options []byte // content of the file options.json of a mirror, or nil

	// Text searches in the texts of the archive, or is nil. Its file need not
	// exist. The caller closes it after the last request.
	Text *textindex.Index

	// Runs returns the results of the runs of a mirror in the order of their
	// numbers. The result complete is false if some runs are missing. The field
	// Runs may be nil.
	Runs func(context.Context) (runs []Run, complete bool, err error)

	// Failures iterates over the failed URLs of a mirror. A non-nil error ends
	// the sequence. The field Failures may be nil.
	Failures func(context.Context) iter.Seq2[Failure, error]
}

// A Handler serves URLs and archives over HTTP. It is safe for concurrent use.
type Handler struct {
	base     string
	address  string // host and port of the listener
	hosts    map[string]bool
	scripts  func(archive int, at time.Time, u uri.URI) string // or nil
	schemes  map[string]fetch.Scheme
	archives []*collection
	gate     *gate         // serves live pages; nil if live pages are disabled
	slots    chan struct{} // limits the number of running requests
	errorLog *log.Logger
	public   *public // limits for clients on other machines, or nil

	admitConn func(net.Conn) (release func(), ok bool) // counts a connection
	key       *guard.Key                               // signs the links to parts of archived pages
	objects   objectCache
	searches  chan struct{} // limits the number of running searches
	compares  chan struct{} // limits the number of running comparisons, which need up to 150 MB of memory
}

// A collection is an archive with its unique name and its statistics.
type collection struct {
	Archive
	index int    // in Options.Archives
	path  string // path of the overview page, which ends in "/"

	statistics *computed[statistics] // statistics of the index
	runsView   *computed[runsView]
	large      atomic.Bool // counting the captures takes longer than the first page waits
	titles     titles
	lookups    *lru[string, []warc.Line] // index lines by URL
}

// validBase matches a path prefix without special characters.
var validBase = lazy.Regexp(`^(/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*$`)

// New returns a Handler. If the options are invalid, the error wraps
// fetch.Usage.
func New(opts Options) (*Handler, error) {
	h := &Handler{
		base: strings.TrimSuffix(opts.Base, "/"), hosts: map[string]bool{}, scripts: opts.ScriptsPage, errorLog: opts.ErrorLog,
		schemes: map[string]fetch.Scheme{}, key: guard.NewKey(), objects: newObjectCache(), searches: make(chan struct{}, 2),
		compares: make(chan struct{}, 2),
	}
	if !validBase().MatchString(h.base) {
		return nil, fetch.Usage.Errorf("the path prefix %q is invalid: it must look like /name", opts.Base)
	}
	if opts.Address == nil {
		return nil, fetch.Usage.Errorf("the address of the listener is missing")
	}
	h.address = opts.Address.String()
	host, port, err := net.SplitHostPort(h.address)
	if err != nil {
		return nil, fetch.Usage.With(err)
	}
	for _, name := range append([]string{"localhost", "127.0.0.1", "::1", host}, opts.Hosts...) {
		h.hosts[net.JoinHostPort(strings.ToLower(strings.Trim(name, "[]")), port)] = true
	}
	for _, name := range opts.Hosts {
		h.hosts[withPort(name)] = true
	}
	for _, s := range opts.Schemes {
		h.schemes[s.Name] = s
	}
	if h.public, err = newPublic(&opts); err != nil {
		return nil, err
	}
	h.admitConn = (&connlimit.Table{PerClient: maxLocal, Total: maxLocal}).Admit
	if h.public != nil {
		h.admitConn = h.public.connect
	}
	slots := opts.MaxRequests
	if slots <= 0 {
		slots = 128
	}
	h.slots = make(chan struct{}, slots)
	names := map[string]bool{}
	for i, a := range opts.Archives {
		a.Name = uniqueName(names, a.Name)
		h.archives = append(h.archives, &collection{
			Archive: a, index: i, path: h.base + "/archive/" + url.PathEscape(a.Name) + "/", lookups: newLookups(),
			statistics: newComputed[statistics](), runsView: newComputed[runsView](),
		})
	}
	if opts.Live != nil {
		h.gate, err = newGate(&opts)
	}
	return h, err
}

// scheme returns the scheme with the given name, or the zero Scheme.
func (h *Handler) scheme(name string) fetch.Scheme { return h.schemes[name] }

// Close closes the connections of live pages. It does not close the archives.
func (h *Handler) Close() error {
	if h.gate == nil {
		return nil
	}
	return h.gate.close()
}

// uniqueName returns name, with a number appended if names contains it already.
// It adds the result to names. It replaces the names "." and "..", because they
// would change the path of a URL.
func uniqueName(names map[string]bool, name string) string {
	if strings.Trim(name, ".") == "" {
		name = "archive"
	}
	unique := name
	for n := 2; names[unique]; n++ {
		unique = name + "-" + strconv.Itoa(n)
	}
	names[unique] = true
	return unique
}

const (
	maxTarget   = 16 << 10         // bytes of a request target
	slotTimeout = 30 * time.Second // time that a request waits until other requests finish
)

// ServeHTTP answers a request. It rejects a request whose Host is not permitted,
// because a foreign web page could otherwise read the archives by DNS rebinding.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := &exchange{Handler: h, w: w, r: r}
	x.serve()
	if x.aborted {
		panic(http.ErrAbortHandler) // net/http recovers it and closes the connection
	}
}

// serve checks a request, waits for a slot and handles the request.
func (x *exchange) serve() {
	h, w, r := x.Handler, x.w, x.r
	x.setPageHeader()
	switch {
	case r.Method == http.MethodConnect:
		w.Header().Set("Allow", "GET, HEAD")
		x.fail(http.StatusMethodNotAllowed, "CONNECT is not permitted", "The server opens no tunnels.")
		return
	case !isProxied(r) && !h.hosts[withPort(r.Host)] && !h.public.isLocalAddress(r):
		x.fail(http.StatusForbidden, "This host name is not permitted",
			"The server answers only requests for its own address.")
		return
	case r.Method != http.MethodGet && r.Method != http.MethodHead && !(r.Method == http.MethodPost && x.isForm()):
		w.Header().Set("Allow", "GET, HEAD")
		x.fail(http.StatusMethodNotAllowed, "This method is not permitted", "The server answers only GET and HEAD.")
		return
	case len(r.RequestURI) > maxTarget:
		x.fail(http.StatusRequestURITooLong, "The URL is too long", "The server accepts at most 16 KiB.")
		return
	}
	ctx, limit, cancel := withDeadline(r.Context(), w)
	defer cancel()
	x.r, x.deadline = r.WithContext(ctx), limit
	if h.public != nil {
		use := x.admit()
		if use == nil {
			return
		}
		defer use.End()
	}
	if !x.takeSlot(ctx) {
		return
	}
	defer func() { <-h.slots }()
	if isProxied(r) {
		x.proxy()
		return
	}
	x.route()
}

// withPort returns a host in lower case and its port. A client omits port 80,
// the default port of http, from the field Host.
func withPort(host string) string {
	name, port, err := net.SplitHostPort(host)
	if err != nil {
		name, port = strings.Trim(host, "[]"), ""
	}
	return net.JoinHostPort(strings.ToLower(name), cmp.Or(port, "80"))
}

// takeSlot waits until fewer than MaxRequests requests are running, and counts
// this request as running. It returns false if the client has gone or the time
// limit has passed.
func (x *exchange) takeSlot(ctx context.Context) bool {
	select {
	case x.slots <- struct{}{}:
		return true
	default:
	}
	wait := time.NewTimer(slotTimeout)
	defer wait.Stop()
	select {
	case x.slots <- struct{}{}:
		return true
	case <-wait.C:
		x.w.Header().Set("Retry-After", "10")
		x.fail(http.StatusServiceUnavailable, "The server is busy", "Try again later.")
	case <-ctx.Done():
	}
	return false
}
