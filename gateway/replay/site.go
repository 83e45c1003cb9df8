// Package replay answers the requests of a browser from a web archive, so that
// the scripts of archived pages run as in the original.
//
// A [Proxy] is the only network of a browser: the browser requests the original
// URLs. A [Site] serves a browser that is not restricted. It gives each archived
// origin a host name below localhost, and restricts the pages with a content
// policy. The file doc/serving-safety.md describes the restrictions of the pages.
package replay

import (
	"context"
	"log"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/gateway/internal/web"
	"github.com/anyurl/fetch/internal/base/baseuri"
	"github.com/anyurl/fetch/internal/base/connlimit"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/warc"
)

// Options configures a Site. The fields Address and Schemes are required.
type Options struct {
	Address  net.Addr       // address of the listener, whose host is a loopback address
	Schemes  []fetch.Scheme // schemes of the URLs in archived pages
	Archives []Archive
	Home     string      // URL of the page that lists the archives, or ""
	ErrorLog *log.Logger // receives messages about failed connections; nil selects package log
}

// An Archive is a web archive whose pages a Site shows.
type Archive struct {
	Name   string
	Source *warc.Archive // the caller closes it after the last request
}

// A Site shows archived pages and runs their scripts. Each archived origin has a
// separate host name. A Site is safe for concurrent use.
type Site struct {
	port     string
	home     string
	order    []*archive
	archives map[string]*archive // by label
	schemes  map[string]fetch.Scheme
	hosts    hostTable
	texts    *textBudget
	posts    postBudget
	slots    chan struct{} // limits the number of running requests
	errorLog *log.Logger
}

type archive struct {
	Archive
	label string // part of the host names
}

// maxRequests is the maximum number of concurrent requests. maxConnections is the
// maximum number of open connections.
const maxRequests, maxConnections = 128, 512

// NewSite returns a Site. If the options are invalid, the error wraps
// fetch.Usage.
func NewSite(opts Options) (*Site, error) {
	s := &Site{
		home: opts.Home, archives: map[string]*archive{}, schemes: map[string]fetch.Scheme{},
		texts: newTextBudget(maxTexts), slots: make(chan struct{}, maxRequests), errorLog: opts.ErrorLog,
	}
	if opts.Address == nil {
		return nil, fetch.Usage.Errorf("the address of the listener is missing")
	}
	var err error
	if _, s.port, err = net.SplitHostPort(opts.Address.String()); err != nil {
		return nil, fetch.Usage.With(err)
	}
	for _, c := range opts.Schemes {
		s.schemes[c.Name] = c
	}
	for _, a := range opts.Archives {
		added := &archive{a, labelOf(s.archives, a.Name)}
		s.archives[added.label] = added
		s.order = append(s.order, added)
	}
	return s, nil
}

// IsShown reports whether this package shows captures of u. It shows captures of
// http and https URLs.
func IsShown(u uri.URI) bool { return u.Scheme() == "http" || u.Scheme() == "https" }

// PageURL returns the URL of the page that shows the capture of u nearest to
// the time at and runs its scripts. The parameter index is the position of the
// archive in Options.Archives. PageURL returns "" for other schemes than http
// and https.
func (s *Site) PageURL(index int, at time.Time, u uri.URI) string {
	if !IsShown(u) {
		return ""
	}
	return "http://" + s.order[index].label + topDomain + ":" + s.port + "/" + at.UTC().Format(timeForm) + "/" + u.Unredacted()
}

// Serve answers requests on l until ctx ends, and waits at most for the duration
// grace until the running requests have finished.
func (s *Site) Serve(ctx context.Context, l net.Listener, grace time.Duration) error {
	admit := (&connlimit.Table{PerClient: maxConnections, Total: maxConnections}).Admit
	return (&web.Server{Handler: s, Admit: admit, ErrorLog: s.errorLog}).Serve(ctx, l, grace)
}

// ServeHTTP answers a request. A page of another site cannot request anything:
// the field Sec-Fetch-Site, which all browsers send to host names below
// localhost, shows which site a request comes from. Host names of different
// archives are different sites.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	host, port := splitHost(r.Host)
	host, local := strings.CutSuffix(host, topDomain)
	w.Header().Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	w.Header().Set("Referrer-Policy", "no-referrer")
	w.Header().Set("Origin-Agent-Cluster", "?1") // document.domain cannot join two origins
	switch {
	case !local || port != s.port:
		refuse(w, http.StatusForbidden, "This host name is not permitted.")
		return
	case r.Header.Get("Service-Worker") != "":
		refuse(w, http.StatusForbidden, "Service workers of archived sites do not run.")
		return
	}
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	case <-r.Context().Done():
		return
	}
	if a := s.archives[host]; a != nil {
		s.serveFrame(w, r, a)
		return
	}
	n, ok := s.parseName(host)
	if !ok {
		refuse(w, http.StatusNotFound, "There is no such archive.")
		return
	}
	s.serveOrigin(w, r, n)
}

// refuse sends an error as text.
func refuse(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	w.Write([]byte(text + "\n"))
}

// serveOrigin answers a request to the host name of an archived origin.
func (s *Site) serveOrigin(w http.ResponseWriter, r *http.Request, n name) {
	u, err := baseuri.ParseAbsolute(n.origin() + r.RequestURI)
	if err != nil || !strings.HasPrefix(r.RequestURI, "/") {
		refuse(w, http.StatusBadRequest, "The URL is invalid.")
		return
	}
	u = u.WithoutFragment()
	target, redirected := strings.CutPrefix(r.RequestURI, redirectPath)
	switch site := r.Header.Get("Sec-Fetch-Site"); {
	case r.Header.Get("Sec-Fetch-Dest") == "document": // not in the frame of serveFrame
		s.redirect(w, s.frameOf(n, u))
	case site != "same-origin" && site != "same-site":
		refuse(w, http.StatusForbidden, "Only archived pages may request this object.")
	case redirected:
		s.redirectTo(w, n, target)
	case r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "":
		s.allowOrigin(w, r, n)
		w.Header().Set("Access-Control-Allow-Methods", r.Header.Get("Access-Control-Request-Method"))
		w.Header().Set("Access-Control-Allow-Headers", r.Header.Get("Access-Control-Request-Headers"))
		w.WriteHeader(http.StatusNoContent)
	default:
		s.serveCapture(w, r, n, u)
	}
}

// redirectPath begins the path of a redirect to the capture of the URL after it.
// Pages use it for hosts whose host name only the server can determine.
const redirectPath = "/__fetch/to/"

func (s *Site) redirectTo(w http.ResponseWriter, n name, target string) {
	u, err := baseuri.ParseAbsolute(target)
	to := ""
	if err == nil {
		to = s.urlOf(n, u)
	}
	if to == "" {
		refuse(w, http.StatusNotFound, "This URL cannot be shown.")
		return
	}
	s.redirect(w, to)
}

func (s *Site) redirect(w http.ResponseWriter, to string) {
	w.Header().Set("Location", to)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusFound)
}

// frameOf returns the URL of the page whose frame shows u.
func (s *Site) frameOf(n name, u uri.URI) string {
	return "http://" + n.archive.label + topDomain + ":" + s.port + "/" + n.time.Format(timeForm) + "/" + u.Unredacted()
}

// allowOrigin permits the page that sent the request to read the response, if
// its host name is in the same group. The original response may have permitted
// only the original page.
func (s *Site) allowOrigin(w http.ResponseWriter, r *http.Request, n name) {
	w.Header().Set("Vary", "Origin")
	origin := r.Header.Get("Origin")
	if strings.HasPrefix(origin, "http://") && strings.HasSuffix(origin, s.group(n)) {
		w.Header().Set("Access-Control-Allow-Origin", origin)
		w.Header().Set("Access-Control-Allow-Credentials", "true")
		w.Header().Set("Access-Control-Expose-Headers", "*")
	}
}
