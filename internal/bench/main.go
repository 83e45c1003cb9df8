// Bench measures fetch against the programs that its users come from, with
// the same real servers on loopback and in the same minutes:
//
//	go run ./internal/bench            # or make bench
//	go run ./internal/bench -case 10K
//
// Each program runs in turn, so that what the machine does meanwhile falls on
// all of them; the figures are medians. A case may set targets, and the exit
// status is 1 where one is missed. Before it is measured each program must
// have delivered the object, byte for byte.
//
// A new case is a new row in a list like that of http.go.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"syscall"
)

func main() {
	var opts options
	flag.StringVar(&opts.program, "fetch", "bin/fetch", "the `program` to measure")
	flag.StringVar(&opts.as, "as", "", "give it the arguments of this `rival`: curl against curl shows the noise")
	flag.IntVar(&opts.runs, "runs", 5, "measured runs of each program")
	pattern := flag.String("case", "", "only cases whose name matches this `expression`")
	flag.Parse()
	only, err := regexp.Compile(*pattern)
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench: -case:", err)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if !bench(ctx, opts, only) {
		os.Exit(1)
	}
}

type options struct {
	program string
	as      string
	runs    int
}

// bench runs the cases and reports whether all of them met their targets.
func bench(ctx context.Context, opts options, only *regexp.Regexp) bool {
	ok := true
	var rows []row
	for _, c := range cases() {
		if !only.MatchString(c.Name) {
			continue
		}
		b := &block{ctx: ctx}
		b.run(func() { rows = append(rows, c.compare(b, opts)...) })
		ok = ok && !b.failed
		if ctx.Err() != nil {
			return false
		}
	}
	for _, r := range rows {
		ok = ok && !r.missed()
	}
	least, err := floor(ctx)
	if err == nil {
		err = print(os.Stdout, rows, least)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		return false
	}
	return ok
}
