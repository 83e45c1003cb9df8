package frontiertest

import (
	"math/rand/v2"
	"testing"
)

// crash plays operations, and looks between them at what a power cut would
// leave: it must be what the model says.
func crash(t *testing.T, e Engine, seeds uint64) {
	if e.Copy == nil {
		t.Skip("this engine does not last")
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

// afterCrash compares a copy with the model.
func (p *play) afterCrash() {
	p.Helper()
	left := &trial{TB: p.TB, clock: p.clock, ctx: p.ctx, place: p.e.Copy(p.TB, p.place)}
	left.open(p.e)
	p.note("crash")
	copied := *p
	copied.trial = left
	copied.compare()
	p.ok(left.Close())
}
