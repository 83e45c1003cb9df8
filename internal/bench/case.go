package main

import (
	"crypto/sha256"
	"os/exec"
	"slices"
	"strings"

	"github.com/anyurl/fetch/internal/peer"
)

// A Case is a task that fetch and other programs perform with the same server.
type Case struct {
	Name    string
	Serve   func(t peer.TB) Object
	Fetch   []string // arguments, in which {dir} is replaced by an empty directory, and {url} and so on by Words
	Rivals  []Rival  // targets compare with the first one
	Starts  int      // number of processes in a run, one after another; 0 means 1
	Targets []Target
}

// A Rival is another program for the same task. Rivals that are not installed
// are skipped.
type Rival struct {
	Program string // name of the program and of its Debian package
	Args    []string
}

// An Object describes the files of the server of a case.
type Object struct {
	Sum   [sha256.Size]byte // SHA-256 of the expected standard output, or of the files in {dir}
	Words map[string]string // values of "url" and of the other placeholders in arguments

	// CheckDir, if not nil, checks the files in {dir} after each run instead of
	// Sum, because the programs of the case use different file names.
	CheckDir func(dir string) error
}

// A Target is a goal for one measure: a maximum ratio to the first rival, or a
// maximum.
type Target struct {
	Measure measure
	Ratio   float64
	Limit   float64 // in the unit of the measure
}

// cases returns all cases.
func cases() []Case {
	return slices.Concat(httpCases(), batchCases(), ftpCases(), mirrorCases())
}

// compare starts the server, checks the output of each program once, and then
// measures the programs in turn. It returns one row for each measure and rival.
func (c Case) compare(b *block, opts options) []row {
	programs := c.programs(b, opts)
	object := c.Serve(b)
	for i := range programs {
		programs[i].fillArgs(b, object.Words)
		programs[i].checkDir = object.CheckDir
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

// programs returns fetch and the installed rivals.
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
		b.Fatalf("bench: %s: -as: the case has no rival %q", c.Name, opts.as)
	}
	return programs
}

// fillArgs replaces the placeholders in the arguments of p.
func (p *program) fillArgs(b *block, words map[string]string) {
	var pairs []string
	if strings.Contains(strings.Join(p.args, " "), "{dir}") {
		p.dir = scratchDir(b)
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
