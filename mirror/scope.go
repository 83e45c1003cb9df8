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
	"github.com/anyurl/fetch/internal/archive"
	"github.com/anyurl/fetch/internal/media"
	"github.com/anyurl/fetch/uri"
	"golang.org/x/net/publicsuffix"
)

// Reach is how far from the seeds links are followed.
type Reach uint8

const (
	Prefix Reach = iota // what lies below a seed
	Host                // the seeds' hosts, whatever the scheme
	Domain              // the domains that somebody registered for the seeds' hosts
	Any                 // wherever the Policy allows
)

// ParseReach reads prefix, host, domain or any.
func ParseReach(name string) (Reach, bool) {
	for i, s := range []string{"prefix", "host", "domain", "any"} {
		if s == name {
			return Reach(i), true
		}
	}
	return 0, false
}

// Scope says what belongs to a mirror. The seeds always do.
type Scope struct {
	Reach      Reach
	Include    []*regexp.Regexp // a URL out of reach that one matches belongs to it too
	Exclude    []*regexp.Regexp // a URL that one matches does not
	Depth      int              // links from a seed; 0: no limit, negative: the seeds alone
	Requisites bool             // what pages need to be shown, one hop out of reach
	Accept     []string         // media types that are kept: image/*; none: all
	Reject     []string
}

// The guards against sites without an end: pages that link to longer and longer
// URLs, calendars, sessions in queries.
const (
	maxURL          = 8 << 10 // bytes
	maxRepeats      = 3       // of one segment in a path
	maxVariants     = 1000    // queries of one path
	maxVariantCount = 200_000 // queries that are remembered
	maxOutOfReach   = 2       // requisites of requisites out of reach
)

// Why the guards refuse a URL.
const (
	reasonRepeats = "its path repeats itself"
	reasonQueries = "too many queries of one path"
	reasonScope   = "out of scope"
)

// boundary decides by a Scope what belongs to a mirror.
type scopeFilter struct {
	rules  Scope
	scheme func(name string) fetch.Scheme // data of schemes

	mu           sync.Mutex
	prefixes     []string
	hosts        map[string]bool
	domains      map[string]bool
	variants     map[string]map[uint64]struct{} // queries seen, by the URL without
	variantCount int
	hashSeed     maphash.Seed
}

func newScopeFilter(s Scope, scheme func(string) fetch.Scheme, seeds []uri.URI) *scopeFilter {
	b := &scopeFilter{rules: s, scheme: scheme, hosts: map[string]bool{}, domains: map[string]bool{}, variants: map[string]map[uint64]struct{}{}, hashSeed: maphash.MakeSeed()}
	for _, u := range seeds {
		b.addSeed(u)
	}
	return b
}

// admit makes u one of the seeds.
func (b *scopeFilter) addSeed(u uri.URI) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if p := b.prefixOf(u); !slices.Contains(b.prefixes, p) {
		b.prefixes = append(b.prefixes, p)
	}
	b.hosts[hostOf(u)] = true
	b.domains[domainOf(u)] = true
}

// knows reports whether u is of a site that belongs to the mirror.
func (b *scopeFilter) includesSite(u uri.URI) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.rules.Reach == Any || b.hosts[hostOf(u)] || b.rules.Reach == Domain && b.domains[domainOf(u)]
}

// prefixOf returns the text that the URLs of all objects below u begin with.
func (b *scopeFilter) prefixOf(u uri.URI) string {
	s := b.scheme(u.Scheme())
	if s.Mirror.Subtree != nil {
		if below, ok := s.Mirror.Subtree(u); ok {
			return archive.Canonical(below.WithoutQuery())
		}
	}
	text := locationText(s, archive.Canonical(u.WithoutQuery()))
	return text[:strings.LastIndexByte(text, '/')+1]
}

// place returns text, the canonical form of a URL of s, without the parts that
// do not say where it lies.
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

// domainOf returns the registered domain of the host of u. An address is no
// part of a domain.
func domainOf(u uri.URI) string {
	host := strings.ToLower(u.Host())
	if _, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		return host
	}
	if domain, err := publicsuffix.EffectiveTLDPlusOne(host); err == nil {
		return domain
	}
	return host
}

// link returns why a link to u does not belong to the mirror, or "" if it does.
// Plain is the canonical form of u, depth its distance from a seed, extra the
// hops out of reach on the way to it, and mt what is known of it. Off is extra
// with this hop.
func (b *scopeFilter) checkLink(u uri.URI, plain string, depth, extra int, mt meta) (why string, off int) {
	text := u.Unredacted()
	switch {
	case b.tooDeep(depth) && !(mt.Requisite && b.rules.Requisites):
		return "too many links from a seed", 0
	case len(text) > maxURL:
		return "the URL is too long", 0
	case !b.scheme(u.Scheme()).Mirror.Repeats && repeatsSegment(u):
		return reasonRepeats, 0
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
	if b.tooManyVariants(u) {
		return reasonQueries, 0
	}
	return "", off
}

// deeper reports whether depth is more links from a seed than are followed.
func (b *scopeFilter) tooDeep(depth int) bool {
	return b.rules.Depth != 0 && depth > max(b.rules.Depth, 0)
}

func (b *scopeFilter) inReach(u uri.URI, text string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.scheme(u.Scheme())
	if s.Mirror.Article != nil && isImmutable(s, u) { // an article: only a group within leads there
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
	plain := locationText(s, text)
	for _, p := range b.prefixes {
		if strings.HasPrefix(plain, p) || text+"/" == p {
			return true
		}
	}
	for _, i := range b.rules.Include {
		if i.MatchString(text) {
			return true
		}
	}
	return false
}

// repeats reports whether one segment occurs in the path of u too often.
func repeatsSegment(u uri.URI) bool {
	seen := map[string]int{}
	for segment := range strings.SplitSeq(u.Path(), "/") {
		if segment == "" {
			continue
		}
		if seen[segment]++; seen[segment] > maxRepeats {
			return true
		}
	}
	return false
}

// tooMany counts the queries of one path.
func (b *scopeFilter) tooManyVariants(u uri.URI) bool {
	query, ok := u.Query()
	if !ok {
		return false
	}
	key, hash := u.WithoutQuery().Unredacted(), maphash.String(b.hashSeed, query)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.variantCount >= maxVariantCount {
		clear(b.variants)
		b.variantCount = 0
	}
	seen := b.variants[key]
	if _, ok := seen[hash]; ok {
		return false
	}
	if len(seen) >= maxVariants {
		return true
	}
	if seen == nil {
		seen = map[uint64]struct{}{}
		b.variants[key] = seen
	}
	seen[hash] = struct{}{}
	b.variantCount++
	return false
}

// media tells why an object of a media type is not kept; "" if it is.
func (b *scopeFilter) checkMedia(text string) string {
	if len(b.rules.Accept)+len(b.rules.Reject) == 0 {
		return ""
	}
	kind := media.TrimParameters(text)
	for _, pattern := range b.rules.Reject {
		if ok, _ := path.Match(pattern, kind); ok {
			return fmt.Sprintf("its type is %q", kind)
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
	return fmt.Sprintf("its type is %q", kind)
}
