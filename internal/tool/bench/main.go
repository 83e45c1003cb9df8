// Bench compares fetch with curl, wget and similar programs. All programs use
// the same servers on loopback:
//
//	go run ./internal/tool/bench            # or make bench
//	go run ./internal/tool/bench -case 10K
//	go run ./internal/tool/bench -large -runs 1   # or make bench-large
//	go run ./internal/tool/bench -base old/fetch  # or make bench-compare BASE=REV
//
// A case that writes files runs twice: in memory, and on the file system of
// TMPDIR. Its name says which. The row "syncs" has the number of system calls
// for each file that sync files, if strace(1) is installed.
//
// With -base, the only rival is another version of fetch. It is measured twice
// in each run, so that its two results show the noise. The exit status is 1 if
// fetch is slower than the noise explains.
//
// With -large, the rival of each task is the same task with fewer items, and
// the figures are the resources for each item. The peak memory is measured for
// the process, because it must not depend on the number of items.
//
// The programs run in turn, so that other load on the machine affects all of
// them. The figures are medians. A case can set targets. The exit status is 1
// if a target is missed. Before a measurement, bench checks that each program
// delivers the correct bytes.
//
// To add a case, add an element to a list such as the one in http.go, or in
// large.go.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"syscall"

	"github.com/anyurl/fetch/capture/browser"
)

func main() {
	browser.Child()
	var opts options
	flag.StringVar(&opts.program, "fetch", "bin/fetch", "measure `program` as fetch")
	flag.StringVar(&opts.as, "as", "", "run -fetch with the arguments of `rival`; for example, curl against curl shows the noise")
	flag.IntVar(&opts.runs, "runs", 5, "number of measured runs of each program")
	flag.StringVar(&opts.base, "base", "", "compare -fetch with another version of fetch, the `program`, in place of the rivals")
	pattern := flag.String("case", "", "run only cases whose names match the regular `expression`")
	large := flag.Bool("large", false, "compare the cost of each item of a large task with the cost in a smaller task")
	flag.Parse()
	only, err := regexp.Compile(*pattern)
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench: -case:", err)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	all := cases()
	if *large {
		all = largeCases()
	}
	if !bench(ctx, opts, all, only) {
		os.Exit(1)
	}
}

type options struct {
	program string
	as      string
	base    string
	runs    int
}

// bench runs the selected cases and reports whether all of them met their
// targets.
func bench(ctx context.Context, opts options, all []Case, only *regexp.Regexp) bool {
	ok := true
	var rows []row
	for _, c := range all {
		if !only.MatchString(c.Name) || opts.base != "" && c.Measure != nil {
			continue
		}
		b := &block{ctx: ctx}
		b.run(func() { rows = append(rows, c.compare(b, opts)...) })
		ok = ok && !b.failed
		if ctx.Err() != nil { // the cases that were measured are printed
			ok = false
			break
		}
	}
	for _, r := range rows {
		ok = ok && !r.missed()
	}
	if opts.base != "" {
		if err := printRevisions(os.Stdout, rows); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			return false
		}
		return ok
	}
	least, err := minMemory(context.WithoutCancel(ctx))
	if err == nil {
		err = print(os.Stdout, rows, least)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		return false
	}
	return ok
}
