package main

import (
	"cmp"
	"crypto/sha256"
	"fmt"

	"github.com/anyurl/fetch/internal/test/peer"
)

// flat is the maximum ratio of the time per item in a large task to the time
// per item in a normal task.
const flat = 1.2

// A growth is a group of tasks. Each task is measured with a normal number of
// items and with a large number. Its cost per item must not grow.
type growth struct {
	name   string
	item   string // name of an item, such as "file"
	items  string // plural of item
	normal int    // number of items in a normal task
	scale  int    // number of items in a large task, divided by normal; 0 means 10
	serve  func(items int) func(peer.TB) Object
	steps  []step // tasks, which share the servers and the files
}

// large returns the number of items in a large task.
func (g growth) large() int { return g.normal * cmp.Or(g.scale, 10) }

// A step is a task of a growth.
type step struct {
	name    string
	program string   // program that runs instead of fetch, as in Rival
	args    []string // as in Case.Fetch
	items   int      // fixed number of items, or 0 if it depends on the size
	part    int      // number of items of the size for each item of the task; 0 means 1
	lines   bool     // the standard output has a line for each item
	memory  float64  // limit in bytes; 0 means 64 MiB

	// If measure is not nil, it performs and measures the task. No program is
	// then started for program and args.
	measure func(b *block, opts options, object Object, items int) usage
}

// count returns the number of items in the task, for a size of n items.
func (s step) count(n int) int { return cmp.Or(s.items, n/cmp.Or(s.part, 1)) }

// growthCases returns a case for each growth.
func growthCases(all []growth) []Case {
	var cases []Case
	for _, g := range all {
		cases = append(cases, Case{Name: g.name, Measure: g.compare})
	}
	return cases
}

// compare measures each step at both sizes. The files of the normal size are
// removed before the files of the large size are created.
func (g growth) compare(b *block, opts options) []row {
	var results [2][]usage
	for i, items := range [2]int{g.normal, g.large()} {
		size := &block{ctx: b.ctx}
		size.run(func() { results[i] = g.sample(size, opts, items) })
		if len(results[i]) != len(g.steps) {
			b.failed = b.failed || size.failed
			return nil
		}
	}
	var rows []row
	for i, s := range g.steps {
		rows = append(rows, g.rows(s, results[0][i], results[1][i])...)
	}
	return rows
}

// rows returns the table rows of a step, one for each measure.
func (g growth) rows(s step, normal, large usage) []row {
	var rows []row
	name := fmt.Sprintf("%s, %s %s", s.name, count(g.large()), g.items)
	for m := range measures {
		r := row{name: name, kind: m, fetch: large[m], rival: count(g.normal), other: normal[m], item: g.item, target: &Target{Measure: m, Ratio: flat}}
		if m == memory {
			r.target = &Target{Measure: m, Limit: cmp.Or(s.memory, 64<<20)}
		} else {
			r.fetch /= float64(s.count(g.large()))
			r.other /= float64(s.count(g.normal))
		}
		rows = append(rows, r)
	}
	return rows
}

// sample returns the median usage of each step.
func (g growth) sample(b *block, opts options, items int) []usage {
	object := g.serve(items)(b)
	var medians []usage
	for _, s := range g.steps {
		b.Logf("bench: %s, %s %s", s.name, count(items), g.items)
		var samples []usage
		for run := range opts.runs {
			samples = append(samples, g.run(b, opts, s, object, items, run == 0))
		}
		medians = append(medians, median(samples))
	}
	return medians
}

// run measures a step once. If check is true, it first compares the output of
// the process with the expected bytes.
func (g growth) run(b *block, opts options, s step, object Object, items int, check bool) usage {
	if s.measure != nil {
		return s.measure(b, opts, object, items)
	}
	path, err := find(b, cmp.Or(s.program, opts.program))
	if err != nil {
		b.Fatalf("bench: %s: %v", s.name, err)
	}
	p := program{name: s.name, path: path, args: s.args, checkDir: object.CheckDir}
	if s.lines {
		p.lines = s.count(items)
	}
	p.fillArgs(b, object.Words, false)
	if check && object.Sum != [sha256.Size]byte{} {
		if err := p.check(b.ctx, object); err != nil {
			b.Fatalf("bench: %s: %v", s.name, err)
		}
	}
	u, err := p.measure(b.ctx, 1)
	if err != nil {
		b.Fatalf("bench: %s: %v", s.name, err)
	}
	return u
}

// count formats n with a comma before each group of three digits.
func count(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", count(n/1000), n%1000)
}
