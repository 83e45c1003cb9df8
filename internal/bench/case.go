package main

import (
	"crypto/sha256"
	"os/exec"
	"slices"
	"strings"

	"github.com/anyurl/fetch/internal/peer"
)

// A Case is one thing to do that fetch and other programs can do alike.
type Case struct {
	Name    string
	Serve   func(t peer.TB) Object
	Fetch   []string // arguments; {url}, the other Words and {dir}, an empty directory, are filled in
	Rivals  []Rival  // the first one is what targets compare with
	Starts  int      // processes one after the other in a run; 0 is 1
	Targets []Target
}

// A Rival is a program that does the same. It is left out where it is absent.
type Rival struct {
	Program string // its Debian package has the same name
	Args    []string
}

// An Object is what a case's server holds ready.
type Object struct {
	Sum   [sha256.Size]byte // of its bytes, as they must come on standard output, or as files in {dir}
	Words map[string]string // "url" and whatever else the arguments name

	// Holds, where it is not nil, judges what lies in {dir} after each run,
	// instead of Sum: for programs that name files each in its own way.
	Holds func(dir string) error
}

// A Target is a promise about one measure: a ratio to the first rival, or an
// absolute limit.
type Target struct {
	Measure measure
	Ratio   float64
	Limit   float64 // in the unit of the measure
}

// cases returns all of them.
func cases() []Case {
	return slices.Concat(httpCases(), batchCases(), ftpCases(), mirrorCases())
}

// compare starts the server, checks each program once, and then runs them in
// turn. It returns one row for each measure and rival.
func (c Case) compare(b *block, opts options) []row {
	programs := c.programs(b, opts)
	object := c.Serve(b)
	for i := range programs {
		programs[i].fill(b, object.Words)
		programs[i].holds = object.Holds
		if err := programs[i].check(b.ctx, object); err != nil {
			b.Fatalf("%s: %s: %v", c.Name, programs[i].name, err)
		}
	}
	samples := make([][]usage, len(programs))
	for range opts.runs {
		for i, p := range programs {
			u, err := p.measure(b.ctx, max(c.Starts, 1))
			if err != nil {
				b.Fatalf("%s: %s: %v", c.Name, p.name, err)
			}
			samples[i] = append(samples[i], u)
		}
	}
	return c.rows(programs, samples)
}

// programs returns fetch and the rivals that are here.
func (c Case) programs(b *block, opts options) []program {
	programs := []program{{name: "fetch", path: opts.program, args: c.Fetch}}
	found := opts.as == ""
	for _, r := range c.Rivals {
		if r.Program == opts.as {
			programs[0].args, found = r.Args, true
		}
		path, err := exec.LookPath(r.Program)
		if err != nil {
			b.Logf("bench: %s: %v (make peers)", c.Name, err)
			continue
		}
		programs = append(programs, program{name: r.Program, path: path, args: r.Args})
	}
	if !found {
		b.Fatalf("bench: %s: no rival %q", c.Name, opts.as)
	}
	return programs
}

func (p *program) fill(b *block, words map[string]string) {
	var pairs []string
	if strings.Contains(strings.Join(p.args, " "), "{dir}") {
		p.dir = scratch(b)
		pairs = append(pairs, "{dir}", p.dir)
	}
	for name, value := range words {
		pairs = append(pairs, "{"+name+"}", value)
	}
	r := strings.NewReplacer(pairs...)
	p.args = slices.Clone(p.args)
	for i, arg := range p.args {
		p.args[i] = r.Replace(arg)
	}
}
