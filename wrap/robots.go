package wrap

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/robots"
	"github.com/anyurl/fetch/uri"
)

// Robots makes the rule, for PoliteOptions.Rule, that asks of a request what
// the site's robots.txt says to agent, a product token (RFC 9309 2.2.1) like
// "fetch": a URL that it disallows is refused with the Fault Denied, and its
// Crawl-delay, a minute at the most, is kept. It holds for the schemes that
// have Scheme.Robots: http, https, gopher and gophers.
//
// The file is asked for once for each origin, on the authority of the request
// that needs it first, and counts for a day, or for as long as a Gopher site's
// caps.txt says. A site without one allows everything (RFC 9309 2.3.1.3). One
// whose file cannot be read allows nothing (2.3.1.4): the error has the class
// of the failure, and RetryAfter tells when the file is asked for again. So it
// is with status 429 too, by which a site asks to be left alone.
func Robots(agent string) func(next fetch.Driver) Rule {
	return func(next fetch.Driver) Rule {
		r := &robot{agent: agent, next: next, sites: map[siteKey]*site{}}
		return r.check
	}
}

const (
	robotsAge     = 24 * time.Hour   // RFC 9309 2.4
	minRobotsAge  = time.Minute      // whatever caps.txt says
	failureAge    = 10 * time.Second // how long a file that cannot be read is left alone
	maxCrawlDelay = time.Minute
	maxSites      = 1024
	maxSitesSize  = 16 << 20 // bytes of what is remembered
)

type robot struct {
	agent string
	next  fetch.Driver
	mu    sync.Mutex
	sites map[siteKey]*site
	size  int
}

// siteKey keeps what a person's own URLs found out from answering for those
// that a server supplied: the Policy may keep them from the same site.
type siteKey struct {
	origin fetch.Origin
	typed  bool
}

// site is what an origin says to robots.
type site struct {
	ready     chan struct{} // closed when the rest is set
	file      *robots.File
	delimiter string    // of a Gopher site's selectors
	err       error     // why nothing may be asked for
	expires   time.Time // zero: it answers only the request that asked for it
}

func (r *robot) check(ctx context.Context, req *fetch.Request) (time.Duration, error) {
	scheme := req.Scheme()
	if scheme.Robots.File == "" {
		return 0, nil
	}
	target, err := fetch.TargetOf(req.URL, scheme.Port)
	path, ok := rulePath(scheme.Robots, req.URL)
	if err != nil || target.Host == "" || !ok { // refused within, or no network
		return 0, nil
	}
	s, err := r.site(ctx, req, siteKey{target.Origin(), req.Typed()})
	switch {
	case err != nil:
		return 0, err
	case s.err != nil && s.expires.IsZero():
		return 0, s.err
	case s.err != nil:
		err := fetch.FaultOf(s.err).Errorf("%w (robots.txt of %s cannot be read, which forbids all of its URLs)", s.err, target.Host)
		return 0, &fetch.Error{Code: codeOf(s.err), RetryAfter: max(time.Until(s.expires), time.Millisecond), Err: err}
	}
	if s.delimiter != "" {
		path = "/" + strings.TrimPrefix(strings.ReplaceAll(path[1:], s.delimiter, "/"), "/")
	}
	if !s.file.Allowed(r.agent, path) {
		return 0, fetch.Denied.Errorf("robots.txt of %s disallows it", target.Host)
	}
	return min(s.file.Delay(r.agent), maxCrawlDelay), nil
}

// judgedPath returns the text of u that the rules of its site apply to. It is
// false if u sends no request to the site.
func rulePath(r fetch.Robots, u uri.URI) (string, bool) {
	if r.Path != nil {
		return r.Path(u)
	}
	path := "/" + strings.TrimPrefix(u.Path(), "/")
	if query, ok := u.Query(); ok {
		path += "?" + query
	}
	return path, true
}

// site returns what is known of a site, and finds it out where nobody has. Who
// comes meanwhile waits.
func (r *robot) site(ctx context.Context, req *fetch.Request, key siteKey) (*site, error) {
	for {
		s, mine := r.claim(key)
		if mine {
			r.read(ctx, req, s)
			r.publish(key, s)
			return s, nil
		}
		select {
		case <-s.ready:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		if !s.expires.IsZero() {
			return s, nil
		}
	}
}

// claim returns the site of key, or a new one that the caller must publish.
func (r *robot) claim(key siteKey) (s *site, mine bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s, ok := r.sites[key]; ok {
		if !isClosed(s.ready) || time.Now().Before(s.expires) {
			return s, false
		}
		r.forget(key, s)
	}
	for k, old := range r.sites { // in no order: which are asked for again does not matter
		if len(r.sites) < maxSites && r.size <= maxSitesSize {
			break
		}
		if isClosed(old.ready) {
			r.forget(k, old)
		}
	}
	s = &site{ready: make(chan struct{})}
	r.sites[key] = s
	return s, true
}

func (r *robot) publish(key siteKey, s *site) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s.file == nil {
		s.file = &robots.File{}
	}
	r.size += s.file.Size()
	if s.expires.IsZero() {
		r.forget(key, s)
	}
	close(s.ready)
}

func (r *robot) forget(key siteKey, s *site) {
	r.size -= s.file.Size()
	delete(r.sites, key)
}

func isClosed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// codeOf is the server's number in err, or zero.
func codeOf(err error) int {
	if e, ok := errors.AsType[*fetch.Error](err); ok {
		return e.Code
	}
	return 0
}
