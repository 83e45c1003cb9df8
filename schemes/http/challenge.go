package http

import (
	"sync"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/httpauth"
)

// proofs remember how each origin wanted its user proved, so that the next
// request need not be refused first: with Digest, by the next use of the same
// nonce (RFC 7616 3.4).
type challengeCache struct {
	mu      sync.Mutex
	entries map[challengeKey]*cachedChallenge
}

type challengeKey struct {
	origin fetch.Origin
	user   string
}

type cachedChallenge struct {
	challenge httpauth.Challenge
	uses      int
}

const maxChallenges = 256

// keep remembers that c was answered once for that user.
func (p *challengeCache) store(origin fetch.Origin, user string, c httpauth.Challenge) {
	if !c.Lasting() {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.entries == nil || len(p.entries) >= maxChallenges {
		p.entries = map[challengeKey]*cachedChallenge{}
	}
	p.entries[challengeKey{origin, user}] = &cachedChallenge{challenge: c, uses: 1}
}

// next returns the challenge to answer unasked, and for which time.
func (p *challengeCache) next(origin fetch.Origin, user string) (c httpauth.Challenge, use int, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	entry := p.entries[challengeKey{origin, user}]
	if entry == nil {
		return c, 0, false
	}
	entry.uses++
	return entry.challenge, entry.uses, true
}

// proveAgain proves the user of req as the origin, or one that led here with
// his credential, has wanted it before.
func (d *driver) preauthenticate(req *fetch.Request, wr *wireRequest) {
	if d.opts.Auth == Basic || req.Auth == nil || req.Auth.Token != "" || hasField(wr.header, "Authorization") {
		return
	}
	c, use, ok := d.challenges.next(wr.target.Origin(), req.Auth.User)
	if !ok && req.From != nil {
		// The caller trusts every host with it; how else but as the last
		// one took it is anybody's guess. A nonce is no other host's.
		t, err := fetch.TargetOf(req.From.URL, webPorts[req.From.URL.Scheme()])
		if c, use, ok = d.challenges.next(t.Origin(), req.Auth.User); err != nil || c.Scheme != "basic" {
			return
		}
	}
	if !ok {
		return
	}
	if field, err := c.Answer(loginOf(req.Auth), wr.method, wr.path+wr.query, use); err == nil {
		wr.setField("Authorization", field)
	}
}
