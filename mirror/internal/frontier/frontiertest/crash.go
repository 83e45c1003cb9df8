package frontiertest

import (
	"math/rand/v2"
	"testing"
)

// testCrash tests that a frontier survives power failures. It runs random
// operations and simulates a power failure after every fifth operation.
func testCrash(t *testing.T, e Engine, seeds uint64) {
	if e.Copy == nil {
		t.Skip("this engine has no file")
	}
	for seed := range seeds {
		script := make([]byte, 400)
		r := rand.NewChaCha8([32]byte{0: byte(seed), 2: 1})
		r.Read(script)
		p := newPlay(t, e, script)
		for steps := 1; len(p.script) > 0 && !t.Failed(); steps++ {
			p.step()
			if steps%5 == 0 {
				p.afterCrash()
			}
		}
		p.end()
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// afterCrash simulates a power failure and compares the recovered frontier with
// the model.
func (p *play) afterCrash() {
	p.Helper()
	left := &trial{TB: p.TB, clock: p.clock, ctx: p.ctx, place: p.e.Copy(p.TB, p.place)}
	left.open(p.e)
	p.note("crash")
	copied := *p
	copied.trial = left
	dropped := p.model.dropped
	p.model.dropped = 0 // since Open
	copied.compare()
	p.model.dropped = dropped
	p.must(left.Close())
}
