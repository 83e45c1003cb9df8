package frontiertest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/anyurl/fetch/mirror/internal/frontier"
)

// testModel runs random operations on the engine e and on a model, and compares
// the results.
func testModel(t *testing.T, e Engine, seeds uint64) {
	for seed := range seeds {
		script := make([]byte, 600)
		r := rand.NewChaCha8([32]byte{0: byte(seed), 1: byte(seed >> 8)})
		r.Read(script)
		Play(t, e, script)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// Fuzz runs fuzzed sequences of operations on the engine e and on a model, and
// compares the results.
func Fuzz(f *testing.F, e Engine) {
	f.Add([]byte("A claim, some results, a release"))
	f.Fuzz(func(t *testing.T, script []byte) {
		if len(script) < 2000 {
			Play(t, e, script)
		}
	})
}

// Play decodes script to a sequence of operations. It runs the operations on
// the engine e and on a model, and compares the results.
func Play(t testing.TB, e Engine, script []byte) {
	t.Helper()
	p := newPlay(t, e, script)
	defer p.end()
	for steps := 1; len(p.script) > 0 && !t.Failed(); steps++ {
		p.step()
		if steps%4 == 0 || len(p.script) == 0 {
			p.compare()
		}
	}
}

// A play runs a sequence of operations on a frontier and on its model.
type play struct {
	*trial
	e      Engine
	model  *model
	script []byte
	leases []*frontier.Lease // leases that are valid, and leases that have ended
	log    []string
}

func newPlay(t testing.TB, e Engine, script []byte) *play {
	tr := &trial{TB: t, clock: newClock(), ctx: t.Context(), place: e.Place(t)}
	tr.open(e)
	return &play{trial: tr, e: e, model: newModel(tr.now), script: script}
}

// end closes the frontier. It logs the operations if the test has failed.
func (p *play) end() {
	p.Close()
	if p.Failed() {
		for _, line := range p.log {
			p.Log(line)
		}
	}
}

// intn returns the next number in the script, reduced to less than limit.
func (p *play) intn(limit int) int {
	if len(p.script) == 0 {
		return 0
	}
	b := p.script[0]
	p.script = p.script[1:]
	return int(b) % limit
}

func (p *play) note(format string, args ...any) { p.log = append(p.log, fmt.Sprintf(format, args...)) }

// checkError checks that err is not nil if want is true, and that err is nil
// otherwise.
func (p *play) checkError(err error, want bool) {
	p.Helper()
	if (err != nil) != want {
		p.Errorf("after %s: error %v; want an error: %v", p.log[len(p.log)-1], err, want)
	}
}

func (p *play) equal(what string, got, want any) {
	p.Helper()
	if !reflect.DeepEqual(got, want) {
		p.Errorf("after %s: %s is\n%+v; want\n%+v", p.log[len(p.log)-1], what, got, want)
	}
}

func (p *play) step() {
	switch op := p.intn(20); op {
	case 0, 1, 2:
		p.runAdd()
	case 3, 4, 5:
		p.runClaim()
	case 6, 7, 8, 9, 10, 11, 12, 13, 14:
		if len(p.leases) == 0 {
			p.runClaim()
			return
		}
		l := p.leases[len(p.leases)-1-p.intn(min(len(p.leases), 4))]
		switch op {
		case 6, 7:
			p.runClaimMore(l)
		case 8:
			p.runExtend(l)
		case 9, 10:
			p.runRelease(l)
		default:
			p.runComplete(l)
		}
	case 15:
		host, until := p.randomHost(), p.randomTime()
		p.note("block %s until %v", host, until)
		p.checkError(p.BlockHost(p.ctx, host, until), false)
		p.model.block(host, until)
	case 16, 17:
		p.note("at %v", p.advance(time.Duration(p.intn(64))*time.Second))
	case 18:
		p.rareOperation()
	case 19:
		p.changeRun()
	}
}

// rareOperation runs an operation that the script seldom selects, such as
// Evict.
func (p *play) rareOperation() {
	switch p.intn(6) {
	case 5:
		p.runControl()
	case 4:
		n := int64(p.intn(5))
		p.note("limit %d", n)
		p.SetPendingLimit(n)
		p.model.limit = n
	case 0:
		p.note("evict")
		p.checkError(p.Evict(p.ctx), false)
		for _, h := range p.model.hosts {
			h.leased = false
		}
	case 1:
		s := frontier.State(1 + p.intn(5))
		p.note("requeue %v", s)
		n, err := p.Requeue(p.ctx, s)
		p.checkError(err, false)
		p.equal("number of requeued items", n, p.model.requeue(func(i *modelItem) bool { return i.state == s }))
		if s == frontier.Excluded {
			for _, h := range p.model.hosts {
				h.control.Excluded = false
			}
		}
	case 2:
		p.note("revive")
		n, err := p.Revive(p.ctx)
		p.checkError(err, !p.model.live)
		if err == nil {
			p.equal("number of revived items", n, p.model.requeue(func(i *modelItem) bool {
				return (i.state == frontier.Done || i.state == frontier.Excluded && i.LastCapture != nil) && i.run < p.model.run
			}))
		}
	case 3:
		if !p.e.Lasts {
			return
		}
		p.note("reopen")
		p.checkError(p.Close(), false)
		p.open(p.e)
		p.model.limit, p.model.dropped = 0, 0
	}
}

// changeRun starts or ends a run.
func (p *play) changeRun() {
	if p.intn(2) == 0 {
		p.note("end")
		p.checkError(p.End(p.ctx), !p.model.live)
		p.model.live = false
		return
	}
	p.note("begin")
	run, fresh, err := p.Begin(p.ctx, []byte{byte(p.intn(256))})
	p.checkError(err, false)
	wantRun, wantFresh := p.model.begin()
	p.equal("run", run, wantRun)
	p.equal("fresh", fresh, wantFresh)
}

// compare checks that the frontier and the model have the same contents.
func (p *play) compare() {
	p.Helper()
	st, err := p.Stats(p.ctx)
	p.checkError(err, false)
	want := p.model.stats()
	for name, h := range p.model.hosts {
		if h.leased && !h.until.After(p.now()) && len(p.model.ready(name)) == 0 {
			want.NextDue = st.NextDue // Claim updates NextDue only when it finds the expired lease
		}
		if h.leased && p.model.postponedOnly(name) {
			want.NextDue, want.Open = st.NextDue, st.Open // Claim updates these values later
		}
	}
	want.Time, want.Note, want.Started, want.Ended = st.Time, st.Note, st.Started, st.Ended
	want.Waiting = st.Waiting   // not compared, because it is only as exact as NextDue; other tests check it
	want.NextHost = st.NextHost // not compared, because hosts that are due at the same time have no order
	p.equal("Stats", st, want)
	own, others, err := p.Counts(p.ctx)
	p.checkError(err, false)
	p.equal("Counts", own, p.model.counts)
	p.equal("Counts of other workers", others, frontier.Counts{})
	p.equal("active run", st.Run > 0 && st.Ended.IsZero(), p.model.live)
	for s := frontier.Pending; s <= frontier.Excluded; s++ {
		var got, want []frontier.Item
		for i, err := range p.Items(p.ctx, s) {
			p.checkError(err, false)
			got = append(got, p.normalize(i))
		}
		for _, i := range p.model.items {
			if i.state == s {
				want = append(want, p.modelled(i))
			}
		}
		p.equal(s.String(), got, want)
	}
	p.compareCaptures()
}

func (p *play) compareCaptures() {
	p.Helper()
	var all []frontier.Capture
	newest, first := map[frontier.Key]frontier.Capture{}, map[[32]byte]frontier.Capture{}
	for c, err := range p.Captures(p.ctx) {
		p.checkError(err, false)
		all = append(all, c)
	}
	keys, digests := []frontier.Key{{1}}, [][32]byte{{1}}
	for _, c := range p.model.captures {
		keys, digests = append(keys, c.Key), append(digests, c.Digest)
		newest[c.Key] = c
		if _, ok := first[c.Digest]; !ok && c.File != "" {
			first[c.Digest] = c
		}
	}
	p.equal("captures", all, p.model.captures)
	byKey, err := p.NewestCaptures(p.ctx, keys)
	p.checkError(err, false)
	p.equal("newest captures", byKey, newest)
	byDigest, err := p.CapturesByDigest(p.ctx, digests)
	p.checkError(err, false)
	p.equal("captures by digest", byDigest, first)
	var files, wantFiles []frontier.File
	for f, err := range p.Files(p.ctx) {
		p.checkError(err, false)
		files = append(files, f)
	}
	for _, i := range p.model.items {
		if i.LastCapture != nil && i.LastCapture.Path != "" {
			wantFiles = append(wantFiles, frontier.File{Path: i.LastCapture.Path, Digest: i.LastCapture.Digest, State: i.state})
		}
	}
	p.equal("files", files, wantFiles)
	named, err := p.NameOwners(p.ctx, paths)
	p.checkError(err, false)
	p.equal("names", named, p.model.names)
	ends, err := p.FileEnds(p.ctx)
	p.checkError(err, false)
	p.equal("file ends", ends, p.model.ends)
}

// normalize returns a copy of i in which equivalent values are equal. For
// example, every NotBefore in the past becomes the zero time.
func (p *play) normalize(i frontier.Item) frontier.Item {
	if !i.NotBefore.After(p.now()) {
		i.NotBefore = time.Time{}
	}
	i.Meta = slices.Clone(i.Meta[:len(i.Meta):len(i.Meta)])
	if len(i.Meta) == 0 {
		i.Meta = nil
	}
	return i
}

func (p *play) modelled(m *modelItem) frontier.Item {
	i := m.Item
	i.Run = m.run
	if m.run != p.model.run {
		i.Attempts = 0
	}
	return p.normalize(i)
}

func (p *play) equalItems(what string, got []frontier.Item, want []*modelItem) {
	p.Helper()
	var g, w []frontier.Item
	for _, i := range got {
		g = append(g, p.normalize(i))
	}
	for _, i := range want {
		w = append(w, p.modelled(i))
	}
	p.equal(what, g, w)
}

func (p *play) isFenced(l *frontier.Lease, err error) bool {
	p.Helper()
	held := p.model.isCurrent(l)
	if errors.Is(err, frontier.ErrFenced) == held {
		p.Errorf("after %s: error %v; the lease of %s is valid: %v", p.log[len(p.log)-1], err, l.Host, held)
	}
	return !held
}
