package mirror

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"hash"
	"slices"
	"strconv"
	"sync"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/mirror/internal/archive"
	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/uri"
)

// trust records which URLs the user entered and which URLs this process found.
// All other URLs come from the database, which may come from an untrusted
// source.
type trust struct {
	stored    bool                  // if true, no seed was entered by the user
	userSeeds map[frontier.Key]bool // seeds of this command
	servers   serverSeeds           // userSeeds by server
	scope     *scopeFilter          // scope of the user's seeds
	seeds     map[frontier.Key]bool // seeds of this run, including earlier processes

	identity archive.IdentityRules

	logins map[fetch.Origin]*fetch.Credential // credentials in the user's seeds

	mu   sync.Mutex // guards the following fields
	mac  hash.Hash  // computes authentication codes with a random key of this process
	text []byte     // buffer for the input and the output of mac
}

func newTrust(o Options) *trust {
	t := &trust{
		stored: o.StoredSeeds, userSeeds: map[frontier.Key]bool{}, seeds: map[frontier.Key]bool{}, logins: map[fetch.Origin]*fetch.Credential{},
		identity: o.Scope.identityRules(o.Client.Scheme),
		scope:    newScopeFilter(o.Scope, o.Limits, o.Client.Scheme, o.Seeds),
	}
	var key [32]byte  // is never stored
	rand.Read(key[:]) // never returns an error
	t.mac = hmac.New(sha256.New, key[:])
	return t
}

// codeSize is the size in bytes of an authentication code.
const codeSize = 16

// code returns the authentication code of an item with the given encoded meta.
// A program with write access to the database does not have the key. It therefore
// cannot create the code of another URL, host, depth or source.
func (t *trust) code(it *frontier.Item, meta []byte) [codeSize]byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := append(append(t.text[:0], it.Host...), '\n')
	text = append(append(text, it.URL...), '\n')
	text = append(strconv.AppendInt(text, int64(it.Depth), 10), '\n')
	text = append(text, meta...)
	t.mac.Reset()
	t.mac.Write(text)
	t.text = t.mac.Sum(text)
	return [codeSize]byte(t.text[len(text):])
}

// seal returns the value of Item.Meta for an item that this process found: the
// encoded meta, a line feed and the authentication code.
func (t *trust) seal(it *frontier.Item, meta []byte) []byte {
	code := t.code(it, meta)
	return append(append(append(make([]byte, 0, len(meta)+1+codeSize), meta...), '\n'), code[:]...)
}

// encode returns the value of Item.Meta for an item with the meta m.
func (t *trust) encode(it *frontier.Item, m meta) []byte {
	if !m.Found {
		return m.encode()
	}
	return t.seal(it, m.encode())
}

// found reports whether this process has sealed the meta of an item.
func (t *trust) found(it *frontier.Item) bool {
	meta, code, sealed := bytes.Cut(it.Meta, []byte{'\n'})
	if !sealed {
		return false
	}
	want := t.code(it, meta)
	return hmac.Equal(code, want[:])
}

// withoutScheme returns a copy of o without its scheme.
func withoutScheme(o fetch.Origin) fetch.Origin {
	o.Scheme = ""
	return o
}

// serverSeeds finds a seed with the server of a URL. A seed without a server, such
// as a file, is found by its scheme.
type serverSeeds struct {
	servers map[fetch.Origin][]serverSeed // the seeds of each server, one of each scheme; the keys have no scheme
	schemes map[string]string             // a seed of each scheme without a server
}

// A serverSeed is a seed with a server.
type serverSeed struct {
	url    string // canonical URL
	scheme fetch.Scheme
}

// covers reports whether a URL of the scheme other, with the server of s, names
// the same service: its scheme is that of s, or documents of s may lead to it and
// both schemes have the same default port, such as news and nntp.
func (s serverSeed) covers(other fetch.Scheme) bool {
	return s.scheme.Name == other.Name ||
		s.scheme.Port == other.Port && slices.Contains(s.scheme.Links.To, other.Name)
}

// add adds the seed u of the given scheme.
func (s *serverSeeds) add(u uri.URI, scheme fetch.Scheme) {
	if s.servers == nil {
		s.servers, s.schemes = map[fetch.Origin][]serverSeed{}, map[string]string{}
	}
	origin, sited := originOf(u)
	if !sited {
		s.schemes[u.Scheme()] = archive.Canonical(u)
		return
	}
	origin = withoutScheme(origin)
	for _, seed := range s.servers[origin] {
		if seed.scheme.Name == scheme.Name {
			return
		}
	}
	s.servers[origin] = append(s.servers[origin], serverSeed{archive.Canonical(u), scheme})
}

// find returns a seed with the server of v, or "". It needs the scheme of v.
func (s *serverSeeds) find(v *visit) string {
	if !v.hasOrigin() {
		return s.schemes[v.url.Scheme()]
	}
	for _, seed := range s.servers[withoutScheme(v.origin)] {
		if seed.covers(v.scheme) {
			return seed.url
		}
	}
	return ""
}

// addSeed records the seed u and returns an item for it. If the user entered u,
// its credentials are used for all requests to its origin.
func (t *trust) addSeed(client *fetch.Client, u uri.URI) frontier.Item {
	text := archive.Canonical(u)
	it := newItem(u, text, t.identity.KeyOf(text), frontier.Item{Depth: -1}, meta{}.encode())
	t.servers.add(u, client.Scheme(u.Scheme()))
	t.userSeeds[it.Key] = true
	t.seeds[it.Key] = true
	if t.stored {
		return it
	}
	c, err := client.Credential(u)
	if err != nil || c == nil {
		return it
	}
	if origin, ok := originOf(u); ok {
		t.logins[origin] = c
	}
	return it
}

// isSeed reports whether the URL of v is a seed of this run.
func (t *trust) isSeed(v *visit) bool { return v.meta.From == "" && t.seeds[v.item.Key] }

// replacesSeed reports whether a seed redirects to the URL of v.
func replacesSeed(v *visit) bool { return v.meta.SeedTarget != "" && v.meta.SeedTarget == v.item.URL }

// isTrusted reports whether the URL of v was entered by the user or found by
// this process.
func (t *trust) isTrusted(v *visit) bool { return t.userSeeds[v.item.Key] || v.meta.Found }

// inSeedDomain reports whether u is in the domain of a seed that the user
// entered. Seeds stored in the database extend the scope only within these
// domains.
func (t *trust) inSeedDomain(u uri.URI) bool {
	t.scope.mu.Lock()
	defer t.scope.mu.Unlock()
	return t.scope.domains[domainOf(u)]
}

// markTrusted marks mt as found by this process if u is in the scope of the
// seeds that the user entered. The parameter text is the canonical form of u.
// Seeds stored in the database do not count, because the database may come from
// an untrusted source.
func (t *trust) markTrusted(u uri.URI, text string, mt *meta) {
	mt.Found = mt.SiteInfo || mt.OutOfReach > 0 || mt.Referenced || t.scope.inReach(u, text)
}

// isKnown reports whether this process knows the source of v: the user entered
// its URL or its server, or this process found it.
func (t *trust) isKnown(v *visit) bool {
	switch {
	case t.userSeeds[v.item.Key]:
		return !t.stored
	case v.meta.Found:
		return true
	}
	return !t.stored && t.onSeedServer(v)
}

// source returns the page that contains the link to v. It returns nil if v
// counts as entered by the user. A stored seed counts as a link in a public
// page of an unknown server.
//
// A URL that an earlier process found counts as entered by the user if a seed
// of the user has the same server. If the URL has no server, it must be below
// such a seed. All other URLs count as links in a public page of an unknown
// server.
func (t *trust) source(v *visit) *fetch.Source {
	from, err := uri.Parse(v.meta.From)
	if v.meta.From == "" || err != nil {
		from = v.url
	}
	seed := t.userSeeds[v.item.Key]
	switch {
	case !t.isKnown(v) && seed:
		return Stranger(v.url)
	case !t.isKnown(v):
		return Stranger(from)
	case !seed && v.meta.Found:
		return &fetch.Source{URL: from, Peer: v.meta.Peer}
	}
	return nil
}

// onSeedServer reports whether the URL of v has the server of a seed of this
// command, and the same service. A URL without a server must be below such a seed.
func (t *trust) onSeedServer(v *visit) bool {
	return t.servers.find(v) != "" && (v.hasOrigin() || t.scope.isBelow(v.url, v.text))
}

// needsTypedSeed reports whether the Policy rejected v with err only because
// the seeds of this command are stored seeds. If the user enters them, v counts
// as entered by the user.
func (t *trust) needsTypedSeed(v *visit, err error) bool {
	_, refused := errors.AsType[*fetch.Refusal](err)
	return refused && t.stored && (t.userSeeds[v.item.Key] || !v.meta.Found && t.onSeedServer(v))
}

// Stranger returns the source of requests for a URL that the user did not enter,
// such as a seed of an archive from an unknown source. It is a fictitious page on
// an unknown server. The page has the scheme of u. If u has no server, the page
// has an unknown scheme, so that a Policy denies links from the page.
func Stranger(u uri.URI) *fetch.Source {
	scheme := u.Scheme()
	if _, sited := originOf(u); !sited {
		scheme = "stranger"
	}
	return &fetch.Source{URL: uri.MustParse(scheme + "://stranger.invalid/")}
}
