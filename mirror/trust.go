package mirror

import (
	"math/rand/v2"
	"strconv"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/archive"
	"github.com/anyurl/fetch/internal/frontier"
	"github.com/anyurl/fetch/uri"
)

// trust knows which URLs of the database this process can vouch for. The
// database may come from a stranger, so its statements grant nothing.
type trust struct {
	token   string                // in the meta of each item that this process found
	typed   map[frontier.Key]bool // the seeds of this command
	servers map[fetch.Origin]bool // of these seeds, whatever the scheme: of nntp and news it is one
	schemes map[string]bool       // of seeds without a server: file, mid, news:
	scope   *scopeFilter          // by these seeds alone
	seeds   map[frontier.Key]bool // of this run, earlier processes included

	logins map[fetch.Origin]*fetch.Credential // that were typed
}

func newTrust(o Options) *trust {
	return &trust{
		token: strconv.FormatUint(rand.Uint64(), 36), typed: map[frontier.Key]bool{}, servers: map[fetch.Origin]bool{},
		schemes: map[string]bool{}, seeds: map[frontier.Key]bool{}, logins: map[fetch.Origin]*fetch.Credential{},
		scope: newScopeFilter(o.Scope, o.Client.Scheme, o.Seeds),
	}
}

// serverAt returns o without its scheme.
func withoutScheme(o fetch.Origin) fetch.Origin {
	o.Scheme = ""
	return o
}

// admit makes u, whose item has the key k, a URL that a person typed.
func (t *trust) addTyped(u uri.URI, k frontier.Key) {
	t.typed[k] = true
	if origin, sited := originOf(u); sited {
		t.servers[withoutScheme(origin)] = true
	} else {
		t.schemes[u.Scheme()] = true
	}
}

// seed returns the item of a URL that a person typed, whose credential counts
// for all of its origin.
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

// knows reports whether this command typed the URL of v, or this process found
// it.
func (t *trust) isTrusted(v *visit) bool { return t.typed[v.item.Key] || v.meta.FoundBy == t.token }

// near reports whether u is at a domain that this command names. A seed of an
// earlier command, or the target of its redirect, widens the scope only there.
func (t *trust) inSeedDomain(u uri.URI) bool {
	t.scope.mu.Lock()
	defer t.scope.mu.Unlock()
	return t.scope.domains[domainOf(u)]
}

// vouch makes mt, of a link to u whose canonical form is text, one that this
// process found. It does so only within the scope of this command: recorded
// seeds, which widen the scope of the mirror, may be a stranger's.
func (t *trust) markTrusted(u uri.URI, text string, mt *meta) {
	mt.FoundBy = ""
	if mt.SiteInfo || mt.OutOfReach > 0 || mt.Referenced || t.scope.inReach(u, text) {
		mt.FoundBy = t.token
	}
}

// source returns the page that led to v, nil for a URL that counts as typed.
//
// A URL that an earlier process found counts as typed if this command names its
// server or, where there is none, what it lies below. Any other one counts as
// found on a public page of another server.
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

// stranger returns the URL of an unknown page of the scheme of u. If u has no
// server, it is of a scheme that no Client has, which leads nowhere.
func untrustedPage(u uri.URI) uri.URI {
	scheme := u.Scheme()
	if _, sited := originOf(u); !sited {
		scheme = "stranger"
	}
	return uri.MustParse(scheme + "://stranger.invalid/")
}
