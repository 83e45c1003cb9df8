package http

import (
	"sync"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/httpauth"
)

// A challengeCache keeps the last challenge that a login answered for each
// origin and user. The next request answers it in advance, which saves a round
// trip. For Digest it counts the uses of the nonce (RFC 7616 3.4).
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

// store adds a challenge that was answered once.
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

// next returns the cached challenge for user and the number of its answers,
// including the answer that the caller is about to make.
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

// preauthenticate adds an Authorization field that answers the challenge of an
// earlier response, from the same origin or from the origin that redirected
// here.
func (d *driver) preauthenticate(req *fetch.Request, wr *wireRequest) {
	if d.opts.Auth == Basic || req.Auth == nil || req.Auth.Token != "" || hasField(wr.header, "Authorization") {
		return
	}
	c, use, ok := d.challenges.next(wr.target.Origin(), req.Auth.User)
	if !ok && req.From != nil {
		// The caller allowed the credentials for every host of the redirect.
		// Only Basic can be reused, because a nonce belongs to one host.
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
