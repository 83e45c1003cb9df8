// Program mutants runs the tests of packages with one changed operator at a
// time. A mutant survives if no test fails. "make mutants" runs it.
//
// All mutants of a package are compiled into one test binary. An environment
// variable selects one of them. Therefore a mutant costs only the time of the
// tests that reach it. The tests run with -short.
//
// An argument is a package, such as ./uri. Further packages whose tests run can
// follow it after commas.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anyurl/fetch/internal/test/report"
)

func main() {
	results := flag.String("results", "", "write the figures to a file for each package in this folder")
	all := flag.Bool("v", false, "print killed mutants too")
	limit := flag.Duration("time", 0, "test only a sample of the mutants of each package in this time; 0 means all")
	flag.Parse()
	for _, pkg := range flag.Args() {
		if err := run(pkg, *results, *all, *limit); err != nil {
			fmt.Fprintf(os.Stderr, "mutants: %s: %v\n", pkg, err)
			os.Exit(1)
		}
	}
}

// run tests the mutants of a package and prints the survivors. The mutants are in
// a random order that is always the same. The mutants that run within the limit
// are thus a sample.
func run(arg, results string, all bool, limit time.Duration) error {
	dir, err := os.MkdirTemp("", "mutants-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	pkg, others, _ := strings.Cut(arg, ",")
	p, err := load(pkg)
	if err != nil {
		return err
	}
	t, err := newTester(p, dir, strings.FieldsFunc(others, func(r rune) bool { return r == ',' }))
	if err != nil {
		return err
	}
	known, err := readEquivalents()
	if err != nil {
		return err
	}
	order := rand.New(rand.NewPCG(1, 1)).Perm(len(p.mutants))
	start := time.Now()
	var mu sync.Mutex
	counts := map[string]int{}
	var failed error // first error of tests that could not be started
	var next atomic.Int64
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(order); i = int(next.Add(1)) - 1 {
				m := p.mutants[order[i]]
				status, err := untested, error(nil)
				if limit == 0 || time.Since(start) < limit || !t.reaches(m) {
					status, err = t.test(m)
				}
				if status == survived && known[m.key()] {
					status = equivalent
				}
				mu.Lock()
				failed = cmp.Or(failed, err)
				counts[status]++
				if all || status == survived {
					fmt.Printf("%s %s\n", status, m)
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if failed != nil {
		return failed
	}
	return write(p.name, results, counts)
}

// workers is the number of mutants that are tested at a time.
const workers = 2

// The results of a mutant.
const (
	killed     = "killed"
	survived   = "survived"
	equivalent = "equivalent" // listed in equivalents, because no test can find it
	unreached  = "not reached"
	untested   = "not tested" // tests reach the mutant, but no time was left
)

// write prints the counts and writes them as figures.
func write(name, results string, counts map[string]int) error {
	reached := counts[killed] + counts[survived]
	fmt.Printf("%s: %d of %d mutants killed (%d %%), %d equivalent, %d not reached, %d not tested\n", name, counts[killed], reached,
		100*counts[killed]/max(1, reached), counts[equivalent], counts[unreached], counts[untested])
	var figures []report.Figure
	for _, status := range []string{killed, survived, equivalent, unreached, untested} {
		figures = append(figures, report.Figure{Layer: "mutants", Measure: name + ": " + status, Value: counts[status], Scope: "test"})
	}
	return report.Write(results, "mutants-"+strings.ReplaceAll(name, "/", "-"), figures)
}
