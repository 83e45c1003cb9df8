package http

import (
	"sync"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/httpauth"
)

// proofs remember how each origin wanted its user proved, so that the next
// request need not be refused first: with Digest, by the next use of the same
// nonce (RFC 7616 3.4).
type proofs struct {
	mu sync.Mutex
	of map[proofKey]*proof
}

type proofKey struct {
	origin fetch.Origin
	user   string
}

type proof struct {
	challenge httpauth.Challenge
	uses      int
}

const maxProofs = 256

// keep remembers that c was answered once for that user.
func (p *proofs) keep(origin fetch.Origin, user string, c httpauth.Challenge) {
	if !c.Lasting() {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.of == nil || len(p.of) >= maxProofs {
		p.of = map[proofKey]*proof{}
	}
	p.of[proofKey{origin, user}] = &proof{challenge: c, uses: 1}
}

// next returns the challenge to answer unasked, and for which time.
func (p *proofs) next(origin fetch.Origin, user string) (c httpauth.Challenge, use int, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	known := p.of[proofKey{origin, user}]
	if known == nil {
		return c, 0, false
	}
	known.uses++
	return known.challenge, known.uses, true
}

// proveAgain proves the user of req as the origin, or one that led here with
// his credential, has wanted it before.
func (d *driver) proveAgain(req *fetch.Request, a *ask) {
	if d.opts.Auth == Basic || req.Auth == nil || req.Auth.Token != "" || has(a.header, "Authorization") {
		return
	}
	c, use, ok := d.proofs.next(a.target.Origin(), req.Auth.User)
	if !ok && req.From != nil {
		// The caller trusts every host with it; how else but as the last
		// one took it is anybody's guess. A nonce is no other host's.
		t, err := fetch.TargetOf(req.From.URL, webPorts[req.From.URL.Scheme()])
		if c, use, ok = d.proofs.next(t.Origin(), req.Auth.User); err != nil || c.Scheme != "basic" {
			return
		}
	}
	if !ok {
		return
	}
	if field, err := c.Answer(loginOf(req.Auth), a.method, a.path+a.query, use); err == nil {
		a.replace("Authorization", field)
	}
}
