// Program fuzz runs the fuzz targets of this module. It compiles the tests of
// each package once. "make fuzz" runs each target for some time, "make
// fuzz-coverage" counts the statements that the inputs of each target reach, and
// "make fuzz-corpus" stores inputs.
//
// An argument is the folder of a package, such as ./uri. Without arguments, the
// program tests all packages below the current folder.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/anyurl/fetch/internal/test/report"
)

func main() {
	duration := flag.Duration("time", 10*time.Second, "run each target for this time")
	only := flag.String("run", ".", "run only the targets whose names match this regular expression")
	coverage := flag.Bool("coverage", false, "count the statements that the inputs of each target reach, instead of fuzzing")
	store := flag.Bool("store", false, "store inputs of the fuzz cache that reach further statements, instead of fuzzing")
	results := flag.String("results", "", "write figures to files in this folder")
	flag.Parse()
	if err := run(flag.Args(), *only, *duration, *coverage, *store, *results); err != nil {
		fmt.Fprintln(os.Stderr, "fuzz:", err)
		os.Exit(1)
	}
}

func run(folders []string, only string, duration time.Duration, coverage, store bool, results string) error {
	match, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	packages, err := find(folders, match)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "fuzz-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	switch {
	case coverage:
		return measure(packages, dir, results)
	case store:
		return storeInputs(packages, dir)
	}
	failed := 0
	for _, p := range packages {
		figures, err := p.fuzz(filepath.Join(dir, "test"), duration)
		if err != nil {
			failed++
			fmt.Fprintf(os.Stderr, "fuzz: %s: %v\n", p.folder, err)
		}
		if err := report.Write(results, "fuzz-runs-"+strings.ReplaceAll(p.folder, "/", "-"), figures); err != nil {
			return err
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d packages have failures", failed)
	}
	return nil
}

// A fuzzed is a package with fuzz targets.
type fuzzed struct {
	folder  string // relative to the module, with slashes
	targets []string
}

// declaration matches the first line of a fuzz target.
var declaration = regexp.MustCompile(`(?m)^func (Fuzz\w+)\(\w+ \*testing\.F\)`)

// find returns the packages in folders that have targets whose names match.
// Without folders, it returns all packages below the current folder.
func find(folders []string, match *regexp.Regexp) (packages []*fuzzed, err error) {
	if len(folders) == 0 {
		err = filepath.WalkDir(".", func(path string, e fs.DirEntry, err error) error {
			if err != nil || !e.IsDir() {
				return err
			}
			if n := e.Name(); n == "bin" || n == "dist" || n == "testdata" || len(n) > 1 && strings.HasPrefix(n, ".") {
				return fs.SkipDir
			}
			folders = append(folders, path)
			return nil
		})
	}
	for _, folder := range folders {
		p := &fuzzed{folder: filepath.ToSlash(filepath.Clean(folder))}
		files, _ := filepath.Glob(filepath.Join(folder, "*_test.go"))
		for _, name := range files {
			text, unread := os.ReadFile(name)
			err = errors.Join(err, unread)
			for _, m := range declaration.FindAllSubmatch(text, -1) {
				if match.Match(m[1]) {
					p.targets = append(p.targets, string(m[1]))
				}
			}
		}
		slices.Sort(p.targets)
		if len(p.targets) > 0 {
			packages = append(packages, p)
		}
	}
	return packages, err
}

// compile writes the test program of the package to a file.
func (p *fuzzed) compile(program string, flags ...string) error {
	args := append(append([]string{"test", "-c", "-o", program}, flags...), "./"+p.folder)
	if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// fuzz runs all targets, also after a failure. It minimizes no input, because a
// slow target would spend almost all of its time on this. It returns the figures of
// each target.
func (p *fuzzed) fuzz(program string, duration time.Duration) (figures []report.Figure, err error) {
	if err := p.compile(program, "-fuzz=."); err != nil {
		return nil, err
	}
	cache, err := p.cache()
	if err != nil {
		return nil, err
	}
	for _, target := range p.targets {
		fmt.Printf("%s in %s\n", target, p.folder)
		c := exec.Command(program, "-test.run", "^$", "-test.fuzz", "^"+target+"$", "-test.fuzztime", duration.String(),
			"-test.fuzzminimizetime", "0x", "-test.fuzzcachedir", cache, "-test.timeout", "0")
		var output, log bytes.Buffer
		c.Dir, c.Stdout, c.Stderr = p.folder, io.MultiWriter(os.Stdout, &output), io.MultiWriter(os.Stderr, &log)
		failures := 0
		if failed := c.Run(); failed != nil && !endedLate(output.Bytes()) {
			failures++
			err = errors.Join(err, fmt.Errorf("%s: %w", target, failed))
		}
		figure := p.figures("fuzz runs", target)
		figures = append(figures, figure("executions", executions(log.Bytes())), figure("failures", failures), figure("seconds", int(duration.Seconds())))
	}
	return figures, err
}

// executions returns the number of executions in the last line about the progress of
// a target.
func executions(log []byte) int {
	all := progress.FindAllSubmatch(log, -1)
	if len(all) == 0 {
		return 0
	}
	n, _ := strconv.Atoi(string(all[len(all)-1][1]))
	return n
}

var progress = regexp.MustCompile(`(?m)^fuzz: elapsed: .*, execs: ([0-9]+) `)

// endedLate reports whether a target failed only because the fuzzing library took
// the end of the time for a failure (go.dev/issue/75804, repaired in Go 1.27). The
// library then stores no input.
func endedLate(output []byte) bool { return lateEnd.Match(output) }

var lateEnd = regexp.MustCompile(`(?m)^--- FAIL: Fuzz\w+ \([0-9.]+s\)\n    context deadline exceeded\nFAIL\n\z`)

// cache returns the folder in which the go command keeps generated inputs. It has a
// folder for each target.
func (p *fuzzed) cache() (string, error) {
	list, err := exec.Command("go", "list", "./"+p.folder).Output()
	if err != nil {
		return "", fmt.Errorf("go list %s: %w", p.folder, err)
	}
	env, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		return "", fmt.Errorf("go env: %w", err)
	}
	return filepath.Join(strings.TrimSpace(string(env)), "fuzz", strings.TrimSpace(string(list))), nil
}
