package main

import (
	"crypto/sha256"
	"os/exec"
	"slices"
	"strings"

	"github.com/anyurl/fetch/internal/peer"
)

// A Case is a benchmark task. fetch and other programs perform the task with
// the same server.
type Case struct {
	Name    string
	Serve   func(t peer.TB) Object
	Fetch   []string // arguments, in which {dir} is replaced by an empty directory, and {url} and so on by Words
	Rivals  []Rival  // targets compare with the first one
	Starts  int      // number of processes in a run, one after another; 0 means 1
	Targets []Target

	// If Measure is not nil, it returns the results, and the other fields except
	// Name are not used.
	Measure func(b *block, opts options) []row
}

// A Rival is another program that performs the same task, such as curl. A rival
// that is not installed is skipped.
type Rival struct {
	Program string // name of the program and of its Debian package
	Args    []string
}

// An Object describes the files on the test server and the expected output of
// the programs.
type Object struct {
	Sum   [sha256.Size]byte // SHA-256 of the expected standard output, or of the files in {dir}
	Words map[string]string // values of "url" and of the other placeholders in arguments

	// If CheckDir is not nil, it checks the files in {dir} after each run. Sum
	// is then ignored, because the programs use different file names.
	CheckDir func(dir string) error
}

// A Target is a performance goal for one measure. It limits the ratio of the
// result to the result of the first rival, or it limits the result.
type Target struct {
	Measure measure
	Ratio   float64
	Limit   float64 // in the unit of the measure
}

// cases returns all cases.
func cases() []Case {
	return slices.Concat(httpCases(), batchCases(), ftpCases(), mirrorCases(), serveCases())
}

// compare measures the programs of a case in turn, after it has checked the
// output of each program once. It returns one row for each measure and rival.
func (c Case) compare(b *block, opts options) []row {
	if c.Measure != nil {
		return c.Measure(b, opts)
	}
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

// programs returns the programs to be measured: fetch and the installed rivals.
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

// fillArgs replaces placeholders such as {url} in the arguments of p.
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
