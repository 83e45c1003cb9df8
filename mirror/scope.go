package mirror

import (
	"fmt"
	"hash/maphash"
	"net/netip"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/media"
	"github.com/anyurl/fetch/mirror/internal/archive"
	"github.com/anyurl/fetch/mirror/internal/trap"
	"github.com/anyurl/fetch/uri"
	"golang.org/x/net/publicsuffix"
)

// A Reach defines which links a mirror follows: Prefix, Host, Domain or Any. A URL
// is below a seed if it begins with the seed up to the last slash, or up to the
// colon of a seed without slashes: echo:two is below echo:one.
type Reach uint8

const (
	Prefix Reach = iota // follow links to URLs below a seed
	Host                // follow links to the hosts of the seeds, with any scheme
	Domain              // follow links to the registered domains of the seeds
	Any                 // follow links to all hosts that the Policy allows
)

// reaches contains the name of each Reach.
var reaches = [...]string{"prefix", "host", "domain", "any"}

// String returns the name of the Reach, such as "prefix".
func (r Reach) String() string { return reaches[min(int(r), len(reaches)-1)] }

// ParseReach returns the Reach with the given name: prefix, host, domain or
// any.
func ParseReach(name string) (Reach, bool) {
	i := slices.Index(reaches[:], name)
	return Reach(max(i, 0)), i >= 0
}

// A Scope defines which URLs a mirror includes. Seeds are always included.
type Scope struct {
	Reach      Reach
	Include    []*regexp.Regexp // include matching URLs, even outside Reach
	Exclude    []*regexp.Regexp // exclude matching URLs
	Depth      int              // maximum number of links from a seed; 0 means no limit, negative means only the seeds
	Requisites bool             // include requisites of pages, such as images, even outside Reach
	Accept     []string         // patterns of media types to keep, such as image/*; if empty, keep all media types
	Reject     []string

	// Filter, if not nil, decides whether a link is followed. Link.Excluded
	// contains the decision of the other fields. The Policy and the Limits apply
	// to all links. Filter is called several times for a link, also by later runs
	// that continue the crawl, and must return the same Decision. It must be safe
	// for concurrent use. The archive does not store Filter.
	Filter func(Link) Decision

	// KeepSessionIDs and IgnoreParameters control which URLs identify the same
	// object. Unless KeepSessionIDs is set, URLs that differ only in a session
	// identifier, such as ;jsessionid=X, identify one object. The mirror
	// requests the first of these URLs. IgnoreParameters contains names of
	// other query and path parameters of web URLs that are ignored, regardless
	// of case.
	KeepSessionIDs   bool
	IgnoreParameters []string
}

// identityRules returns the rules that decide whether two URLs identify the
// same object. The function scheme looks up a scheme by its name.
func (s *Scope) identityRules(scheme func(name string) fetch.Scheme) archive.IdentityRules {
	r := archive.IdentityRules{
		IsWeb: func(name string) bool { return scheme(name).Traits.Web }, KeepSessions: s.KeepSessionIDs,
	}
	for _, name := range s.IgnoreParameters {
		r.Ignored = append(r.Ignored, strings.ToLower(name))
	}
	return r
}

// maxOutOfReach is the maximum number of consecutive requisites outside
// Scope.Reach.
const maxOutOfReach = 2

// reasonScope is the note of a URL that is excluded because it is out of scope.
const reasonScope = "out of scope"

// reasonFilter is the note of a URL that Scope.Filter omits.
const reasonFilter = "omitted by the filter"

// A scopeFilter decides which URLs are in a Scope. It is safe for concurrent
// use.
type scopeFilter struct {
	rules    Scope
	identity archive.IdentityRules
	limits   Limits
	scheme   func(name string) fetch.Scheme // looks up a scheme by its name
	hashSeed maphash.Seed

	mu       sync.Mutex
	prefixes prefixSet
	hosts    map[string]bool
	domains  map[string]bool
	counter  trap.Counter
}

func newScopeFilter(s Scope, l Limits, scheme func(string) fetch.Scheme, seeds []uri.URI) *scopeFilter {
	b := &scopeFilter{
		rules: s, identity: s.identityRules(scheme), limits: l, scheme: scheme, hosts: map[string]bool{}, domains: map[string]bool{},
		hashSeed: maphash.MakeSeed(),
	}
	for _, u := range seeds {
		b.addSeed(u)
	}
	return b
}

// addSeed adds the seed u, which extends the scope.
func (b *scopeFilter) addSeed(u uri.URI) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.prefixes.add(b.prefixOf(u))
	b.hosts[hostOf(u)] = true
	b.domains[domainOf(u)] = true
}

// includesSite reports whether pages on the host of u can be in scope.
func (b *scopeFilter) includesSite(u uri.URI) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.rules.Reach == Any || b.hosts[hostOf(u)] || b.rules.Reach == Domain && b.domains[domainOf(u)]
}

// prefixOf returns the common prefix of all URLs below the seed u.
func (b *scopeFilter) prefixOf(u uri.URI) string {
	s := b.scheme(u.Scheme())
	if s.Mirror.Subtree != nil {
		if below, ok := s.Mirror.Subtree(u); ok {
			return archive.Canonical(below.WithoutQuery())
		}
	}
	text := locationText(s, archive.Canonical(u.WithoutQuery()))
	end := max(strings.LastIndexByte(text, '/'), strings.IndexByte(text, ':')) // the colon of a URL without slashes
	return text[:end+1]
}

// locationText removes the parts of a URL that do not belong to its location,
// such as the type of a Gopher item. The parameter text is the canonical form
// of a URL of the scheme s.
func locationText(s fetch.Scheme, text string) string {
	if s.Mirror.Place == nil {
		return text
	}
	u, err := uri.Parse(text)
	if err != nil {
		return text
	}
	return s.Mirror.Place(u).Unredacted()
}

// domainOf returns the registered domain of the host of u. If the host is an IP
// address, domainOf returns this address.
func domainOf(u uri.URI) string {
	host := strings.TrimSuffix(strings.ToLower(u.Host()), ".")
	if _, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		return host
	}
	if domain, err := publicsuffix.EffectiveTLDPlusOne(host); err == nil {
		return domain
	}
	return host
}

// checkLink returns the reason for excluding a link to u, or "" if u is in
// scope. The parameter plain is the canonical form of u, and depth is the
// distance of u from a seed. The parameter extra is the number of consecutive
// links outside Scope.Reach before u. The result off is this number including
// the link to u.
func (b *scopeFilter) checkLink(u uri.URI, plain string, depth, extra int, mt meta) (reason string, off int) {
	reason, off = b.checkRules(u, plain, depth, extra, mt)
	if b.rules.Filter != nil {
		switch b.rules.Filter(newLink(u, depth, mt, reason)) {
		case Follow:
			reason, off = "", 0
		case Omit:
			reason = reasonFilter
		}
	}
	if reason == "" {
		reason = b.checkGuards(u, plain, mt)
	}
	if reason != "" {
		off = 0
	}
	return reason, off
}

// checkRules is like checkLink, but applies neither Scope.Filter nor the guards.
func (b *scopeFilter) checkRules(u uri.URI, plain string, depth, extra int, mt meta) (reason string, off int) {
	text := u.Unredacted()
	if b.tooDeep(depth) && !(mt.Requisite && b.rules.Requisites) {
		return "too many links from a seed", 0
	}
	for _, e := range b.rules.Exclude {
		if e.MatchString(text) {
			return "excluded", 0
		}
	}
	if !mt.Referenced && !b.inReach(u, plain) {
		if !mt.Requisite || !b.rules.Requisites || extra >= maxOutOfReach {
			return reasonScope, 0
		}
		off = extra + 1
	}
	return "", off
}

// tooDeep reports whether depth is greater than Scope.Depth.
func (b *scopeFilter) tooDeep(depth int) bool {
	return b.rules.Depth != 0 && depth > max(b.rules.Depth, 0)
}

func (b *scopeFilter) inReach(u uri.URI, text string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.scheme(u.Scheme())
	if s.Mirror.Article != nil && isImmutable(s, u) { // articles are linked only by newsgroups in the scope
		return b.hosts[hostOf(u)]
	}
	switch b.rules.Reach {
	case Any:
		return true
	case Domain:
		if b.domains[domainOf(u)] {
			return true
		}
	case Host:
		if b.hosts[hostOf(u)] {
			return true
		}
	}
	if b.coversPrefix(s, text) {
		return true
	}
	for _, i := range b.rules.Include {
		if i.MatchString(text) {
			return true
		}
	}
	return false
}

// isBelow reports whether u is a seed or below a seed, whatever Scope.Reach is. The
// parameter text is the canonical form of u.
func (b *scopeFilter) isBelow(u uri.URI, text string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.coversPrefix(b.scheme(u.Scheme()), text)
}

// coversPrefix reports whether the URL with the canonical form text and the scheme
// s is below a seed. The caller holds b.mu.
func (b *scopeFilter) coversPrefix(s fetch.Scheme, text string) bool {
	return b.prefixes.covers(locationText(s, text)) || b.prefixes.has(text+"/")
}

// checkGuards counts the URL u. It returns the reason of the guard that
// excludes u, or "". The parameter plain is the canonical form of u.
func (b *scopeFilter) checkGuards(u uri.URI, plain string, mt meta) string {
	l := &b.limits
	if int64(len(u.Unredacted())) > limitOr(l.URLBytes, defaultURLBytes) {
		return reasonURLBytes
	}
	s := b.scheme(u.Scheme())
	segments, repeats := trap.PathShape(u)
	if !s.Mirror.Repeats && repeats > limitOr(l.Repeats, defaultRepeats) {
		return reasonRepeats
	}
	plain = b.identity.Identity(plain)
	b.mu.Lock()
	defer b.mu.Unlock()
	if s.Traits.Web && segments > deepPath &&
		!b.counter.Admit("deep "+hostOf(u), b.hash(plain), limitOr(l.DeepPaths, defaultDeepPaths)) {
		return reasonDeepPaths
	}
	if mt.Chain > chainStart &&
		!b.counter.Admit("chain "+trap.PathPattern(plain), b.hash(plain), limitOr(l.Chained, defaultChained)) {
		return reasonChained
	}
	path, query, ok := strings.Cut(plain, "?")
	if ok && !b.counter.Admit(path, b.hash(query), limitOr(l.Queries, defaultQueries)) {
		return reasonQueries
	}
	return ""
}

// admitSitemap counts the sitemap u. It returns false if the host of u has more
// than Limits.Sitemaps sitemaps. The parameter plain is the canonical form of
// u.
func (b *scopeFilter) admitSitemap(u uri.URI, plain string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.counter.Admit("sitemap "+hostOf(u), b.hash(plain), limitOr(b.limits.Sitemaps, defaultSitemaps))
}

func (b *scopeFilter) hash(text string) uint64 { return maphash.String(b.hashSeed, text) }

// chainOf returns the number of consecutive links between similar web URLs,
// such as the pages of a calendar. The last link is in the page from and leads
// to the URL to. The parameter chain is this number for the page.
func (c *crawl) chainOf(from string, chain int, to uri.URI, text string) int {
	text = c.identity.Identity(text)
	if !c.schemeOf(to).Traits.Web || !strings.ContainsAny(text, "?0123456789") ||
		trap.PathPattern(c.identity.Identity(from)) != trap.PathPattern(text) {
		return 0
	}
	return chain + 1
}

// checkMedia returns the reason for not keeping an object with the given media
// type, or "" if the object is kept.
func (b *scopeFilter) checkMedia(text string) string {
	if len(b.rules.Accept)+len(b.rules.Reject) == 0 {
		return ""
	}
	kind := media.TrimParameters(text)
	for _, pattern := range b.rules.Reject {
		if ok, _ := path.Match(pattern, kind); ok {
			return fmt.Sprintf("media type %q is not wanted", kind)
		}
	}
	if len(b.rules.Accept) == 0 {
		return ""
	}
	for _, pattern := range b.rules.Accept {
		if ok, _ := path.Match(pattern, kind); ok {
			return ""
		}
	}
	return fmt.Sprintf("media type %q is not wanted", kind)
}
