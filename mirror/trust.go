package mirror

import (
	"math/rand/v2"
	"strconv"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/archive"
	"github.com/anyurl/fetch/internal/frontier"
	"github.com/anyurl/fetch/uri"
)

// trust decides which URLs of the database were found by this process. The
// database may come from an untrusted source, so its contents grant no rights.
type trust struct {
	token   string                // marks the items that this process found
	typed   map[frontier.Key]bool // seeds of this command
	servers map[fetch.Origin]bool // servers of the typed seeds, without their schemes
	schemes map[string]bool       // schemes of typed seeds without a server, such as file and mid
	scope   *scopeFilter          // scope of the typed seeds
	seeds   map[frontier.Key]bool // seeds of this run, including earlier processes

	logins map[fetch.Origin]*fetch.Credential // credentials of the typed seeds
}

func newTrust(o Options) *trust {
	return &trust{
		token: strconv.FormatUint(rand.Uint64(), 36), typed: map[frontier.Key]bool{}, servers: map[fetch.Origin]bool{},
		schemes: map[string]bool{}, seeds: map[frontier.Key]bool{}, logins: map[fetch.Origin]*fetch.Credential{},
		scope: newScopeFilter(o.Scope, o.Limits, o.Client.Scheme, o.Seeds),
	}
}

// withoutScheme returns o without its scheme.
func withoutScheme(o fetch.Origin) fetch.Origin {
	o.Scheme = ""
	return o
}

// addTyped adds u, whose item has the key k, to the URLs that the user typed.
func (t *trust) addTyped(u uri.URI, k frontier.Key) {
	t.typed[k] = true
	if origin, sited := originOf(u); sited {
		t.servers[withoutScheme(origin)] = true
	} else {
		t.schemes[u.Scheme()] = true
	}
}

// addSeed returns the item of a URL that the user typed. The credentials of the
// URL are used for its origin.
func (t *trust) addSeed(client *fetch.Client, u uri.URI) frontier.Item {
	it := newItem(u, archive.Canonical(u), frontier.Item{Depth: -1}, meta{}.encode())
	t.addTyped(u, it.Key)
	t.seeds[it.Key] = true
	c, err := client.Credential(u)
	if err != nil || c == nil {
		return it
	}
	if origin, ok := originOf(u); ok {
		t.logins[origin] = c
	}
	return it
}

// isSeed reports whether v is a seed of this run.
func (t *trust) isSeed(v *visit) bool { return v.meta.From == "" && t.seeds[v.item.Key] }

// isTrusted reports whether the user typed the URL of v or this process found
// it.
func (t *trust) isTrusted(v *visit) bool { return t.typed[v.item.Key] || v.meta.FoundBy == t.token }

// inSeedDomain reports whether u is in the domain of a typed seed. Recorded
// seeds and redirects of recorded seeds extend the scope only within these
// domains.
func (t *trust) inSeedDomain(u uri.URI) bool {
	t.scope.mu.Lock()
	defer t.scope.mu.Unlock()
	return t.scope.domains[domainOf(u)]
}

// markTrusted marks mt as found by this process. The link u, with the canonical
// form text, must be in the scope of the typed seeds. Recorded seeds do not
// count, because they may come from an untrusted source.
func (t *trust) markTrusted(u uri.URI, text string, mt *meta) {
	mt.FoundBy = ""
	if mt.SiteInfo || mt.OutOfReach > 0 || mt.Referenced || t.scope.inReach(u, text) {
		mt.FoundBy = t.token
	}
}

// source returns the page that led to v, or nil for a URL that counts as typed.
//
// A URL that an earlier process found counts as typed if a typed seed has the
// same server. If the URL has no server, it must be below a typed seed. Any
// other URL counts as found on a public page of an unknown server.
func (t *trust) source(v *visit) *fetch.Source {
	from, err := uri.Parse(v.meta.From)
	if v.meta.From == "" || err != nil {
		from = v.url
	}
	switch {
	case t.typed[v.item.Key]:
		return nil
	case v.meta.FoundBy == t.token:
		return &fetch.Source{URL: from, Peer: v.meta.Peer}
	case v.hasOrigin && t.servers[withoutScheme(v.origin)]:
		return nil
	case !v.hasOrigin && t.schemes[v.url.Scheme()] && t.scope.inReach(v.url, v.item.URL):
		return nil
	}
	return &fetch.Source{URL: untrustedPage(from)}
}

// untrustedPage returns the URL of a page of an unknown server, with the scheme
// of u. If u has no server, the scheme is unknown too, and a Policy lets such a
// page lead to no URL.
func untrustedPage(u uri.URI) uri.URI {
	scheme := u.Scheme()
	if _, sited := originOf(u); !sited {
		scheme = "stranger"
	}
	return uri.MustParse(scheme + "://stranger.invalid/")
}
