package http

import (
	"sync"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/wire/httpauth"
	"github.com/anyurl/fetch/schemes/internal/sessions"
)

// A challengeCache caches the last authentication challenge for each origin and
// user. The next request uses the cached challenge to send credentials at once,
// which saves a round trip. For Digest, the cache counts the uses of the nonce
// (RFC 7616 3.4).
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
	password  fetch.Secret // with which a request has used the challenge
}

const maxChallenges = 256

// store adds a challenge to the cache. The use count is 1, because one request
// has already used the challenge.
func (p *challengeCache) store(origin fetch.Origin, login *fetch.Credential, c httpauth.Challenge) {
	if !c.Lasting() {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.entries == nil || len(p.entries) >= maxChallenges {
		p.entries = map[challengeKey]*cachedChallenge{}
	}
	p.entries[challengeKey{origin, login.User}] = &cachedChallenge{challenge: c, uses: 1, password: login.Password}
}

// next returns the cached challenge for the origin and user. The result use
// counts the requests that have used the challenge, including the next request.
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

// redirects returns the cached challenge for an origin that redirected a request
// with this login to another origin. It returns false unless the origin had the
// same password. Otherwise, the login belongs to the other origin alone, which has
// not sent its challenge yet.
func (p *challengeCache) redirects(origin fetch.Origin, login *fetch.Credential) (c httpauth.Challenge, use int, ok bool) {
	p.mu.Lock()
	same := p.entries[challengeKey{origin, login.User}]
	known := same != nil && same.password == login.Password
	p.mu.Unlock()
	if !known {
		return c, 0, false
	}
	return p.next(origin, login.User)
}

// preauthenticate adds an Authorization field before the server requires it. It
// uses the cached challenge of the same origin, or of the origin that
// redirected to this URL.
func (d *driver) preauthenticate(req *fetch.Request, wr *wireRequest) {
	if d.opts.Auth == Basic || req.Auth == nil || sessions.LacksPassword(req.Auth) || req.Auth.Token != "" || hasField(wr.header, "Authorization") {
		return
	}
	c, use, ok := d.challenges.next(wr.target.Origin(), req.Auth.User)
	if !ok && req.From != nil {
		// The caller allows req.Auth for every host to which the server
		// redirects. Only Basic can be used here, because a Digest nonce
		// belongs to one host.
		t, err := fetch.TargetOf(req.From.URL, webPorts[req.From.URL.Scheme()])
		if c, use, ok = d.challenges.redirects(t.Origin(), req.Auth); err != nil || c.Scheme != "basic" {
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
