package wrap

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/internal/base/robots"
	"github.com/anyurl/fetch/uri"
)

// Robots returns a Rule for PoliteOptions.Rule that obeys robots.txt (RFC
// 9309). The agent is a product token such as "fetch" (section 2.2.1). The Rule
// rejects a disallowed URL with the Fault Denied. It obeys a Crawl-delay of up
// to one minute. It applies to the schemes that set Scheme.Robots: http, https,
// gopher, gophers, gemini and spartan.
//
// The Rule fetches robots.txt once per origin, with the permissions of the
// first request to the origin. The file is used for a day, or for the time in
// caps.txt of a Gopher site. If a site does not have the file, all URLs are
// allowed (section 2.3.1.3).
//
// If the file cannot be read, or the status is 429, all URLs are disallowed
// (section 2.3.1.4). The error then has the class of the failure. Its
// RetryAfter is the time until the next attempt to read the file.
func Robots(agent string) func(next fetch.Driver) Rule {
	return func(next fetch.Driver) Rule {
		r := &robot{agent: agent, next: next, sites: map[fetch.Origin]*site{}}
		return r.check
	}
}

const (
	robotsAge     = 24 * time.Hour   // RFC 9309 2.4
	minRobotsAge  = time.Minute      // minimum, even if caps.txt sets a shorter time
	failureAge    = 10 * time.Second // time until the next attempt to read the file
	maxCrawlDelay = time.Minute
	maxSites      = 1024
	maxSitesSize  = 16 << 20 // bytes of all cached files
)

type robot struct {
	agent string
	next  fetch.Driver
	mu    sync.Mutex
	sites map[fetch.Origin]*site
	size  int
}

// A site contains the rules for robots of one origin. If the Policy denies
// access to robots.txt, the error is not cached, because the Policy may allow
// other requests to the site.
type site struct {
	ready     chan struct{} // closed when the other fields are set
	file      *robots.File
	delimiter string    // path delimiter in the selectors of a Gopher site
	err       error     // if not nil, all URLs of the site are rejected
	expires   time.Time // if zero, the result applies only to the request that read the file
}

func (r *robot) check(ctx context.Context, req *fetch.Request) (time.Duration, error) {
	scheme := req.Scheme()
	if scheme.Robots.File == "" {
		return 0, nil
	}
	target, err := fetch.TargetOf(req.URL, scheme.Port)
	path, ok := rulePath(scheme.Robots, req.URL)
	if err != nil || target.Host == "" || !ok { // the next Driver returns the error, or uses no network
		return 0, nil
	}
	s, err := r.site(ctx, req, target.Origin())
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
		return 0, fetch.Denied.Errorf("robots.txt of %s disallows the URL", target.Host)
	}
	return min(s.file.Delay(r.agent), maxCrawlDelay), nil
}

// rulePath returns the text that is compared with the rules of a site for the
// URL u. It returns false if retrieving u sends no request to the site.
func rulePath(r scheme.Robots, u uri.URI) (string, bool) {
	if r.Path != nil {
		return r.Path(u)
	}
	path := "/" + strings.TrimPrefix(u.Path(), "/")
	if query, ok := u.Query(); ok {
		path += "?" + query
	}
	return path, true
}

// site returns the rules for robots of an origin. The first caller reads
// robots.txt, and concurrent callers wait for the result.
func (r *robot) site(ctx context.Context, req *fetch.Request, key fetch.Origin) (*site, error) {
	for {
		s, mine := r.claim(key)
		if mine {
			r.read(ctx, req, s)
			r.publish(key, s)
			return s, nil
		}
		if !isClosed(s.ready) { // this check is faster than the statement below, which creates a channel for ctx
			select {
			case <-s.ready:
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		}
		if !s.expires.IsZero() {
			return s, nil
		}
	}
}

// claim returns the site of an origin. If mine is true, the site is new, and
// the caller must read robots.txt and call publish.
func (r *robot) claim(key fetch.Origin) (s *site, mine bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s, ok := r.sites[key]; ok {
		if !isClosed(s.ready) || time.Now().Before(s.expires) {
			return s, false
		}
		r.forget(key, s)
	}
	for k, old := range r.sites { // the order is random, because any entry can be read again
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

func (r *robot) publish(key fetch.Origin, s *site) {
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

func (r *robot) forget(key fetch.Origin, s *site) {
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

// codeOf returns the status code in an error from a server, or zero.
func codeOf(err error) int {
	if e, ok := errors.AsType[*fetch.Error](err); ok {
		return e.Code
	}
	return 0
}
