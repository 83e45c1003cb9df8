package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/anyurl/fetch/internal/test/report"
)

// limit is the time limit of a target that only runs its inputs.
const limit = 5 * time.Minute

// A profile has the statements of a package.
type profile struct {
	statements map[string]int // number of statements by block
	covered    map[string]bool
}

// readProfile parses a coverage profile of package testing.
func readProfile(text string) (profile, error) {
	p := profile{map[string]int{}, map[string]bool{}}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "mode:") {
			continue
		}
		fields := strings.Fields(line)
		if len(fields) != 3 {
			return p, fmt.Errorf("line %q of the profile", line)
		}
		n, err := strconv.Atoi(fields[1])
		if err != nil {
			return p, err
		}
		p.statements[fields[0]] = n
		if fields[2] != "0" {
			p.covered[fields[0]] = true
		}
	}
	return p, nil
}

// count returns the number of statements, and of those that were covered.
func (p profile) count() (covered, all int) {
	for block, n := range p.statements {
		all += n
		if p.covered[block] {
			covered += n
		}
	}
	return covered, all
}

// A coverer runs inputs of the targets of a package and measures their coverage.
type coverer struct {
	p       *fuzzed
	program string
}

// newCoverer compiles the tests of p in the folder dir.
func newCoverer(p *fuzzed, dir string) (*coverer, error) {
	c := &coverer{p, filepath.Join(dir, "test")}
	return c, p.compile(c.program, "-cover", "-covermode=set")
}

// run runs the tests that match pattern. It also returns the number of inputs of
// the target.
func (c *coverer) run(target, pattern string) (p profile, inputs int, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	file := c.program + ".profile"
	command := exec.CommandContext(ctx, c.program, "-test.run", pattern, "-test.coverprofile", file, "-test.v")
	command.Dir = c.p.folder
	out, err := command.CombinedOutput()
	if err != nil {
		return p, 0, fmt.Errorf("%s: %w: %.1000s", pattern, err, out)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return p, 0, err
	}
	p, err = readProfile(string(text))
	return p, bytes.Count(out, []byte("=== RUN   "+target+"/")), err
}

// measure counts the statements that the inputs of each target reach.
func measure(packages []*fuzzed, dir, results string) error {
	var figures []report.Figure
	for _, p := range packages {
		c, err := newCoverer(p, dir)
		if err != nil {
			return err
		}
		for _, target := range p.targets {
			profile, inputs, err := c.run(target, "^"+target+"$")
			if err != nil {
				return err
			}
			covered, all := profile.count()
			fmt.Printf("%s %s: %d inputs, %d of %d statements\n", p.folder, target, inputs, covered, all)
			figure := p.figures("fuzz coverage", target)
			figures = append(figures, figure("inputs", inputs), figure("covered", covered), figure("statements", all))
		}
	}
	return report.Write(results, "fuzz-coverage", figures)
}

// figures returns a function that returns a figure of a target.
func (p *fuzzed) figures(layer, target string) func(measure string, value int) report.Figure {
	return func(measure string, value int) report.Figure {
		return report.Figure{Layer: layer, Measure: p.folder + ": " + target + ": " + measure, Value: value, Scope: "test"}
	}
}
