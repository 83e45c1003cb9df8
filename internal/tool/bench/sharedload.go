package main

import (
	"fmt"
	"os/exec"
	"regexp"
	"strconv"

	"github.com/anyurl/fetch/internal/test/peer"
)

// frontierRate is the target for the shared frontier, in URLs per second.
const frontierRate = 6000

// benchFigure matches a figure in the output of the benchmark of the shared
// frontier.
var benchFigure = regexp.MustCompile(`([0-9.]+) (URLs/s|µs-server/URL|µs-workers/URL)`)

// measureFrontier runs the benchmark of the shared frontier: three workers
// claim and complete URLs in batches of 16, and add one new URL for each URL.
func measureFrontier(b *block, opts options) []row {
	figures := map[string][]float64{}
	for range opts.runs {
		out, err := exec.CommandContext(b.ctx, "go", "test", "./mirror/internal/frontier/postgres",
			"-run", "^$", "-bench", "^BenchmarkWorkers$", "-benchtime", "20000x").CombinedOutput()
		found := benchFigure.FindAllSubmatch(out, -1)
		if err != nil || len(found) != 3 {
			b.Fatalf("bench: benchmark of the shared frontier: %v: %s", err, out)
		}
		for _, m := range found {
			n, err := strconv.ParseFloat(string(m[1]), 64)
			if err != nil {
				b.Fatalf("bench: benchmark of the shared frontier: %v", err)
			}
			figures[string(m[2])] = append(figures[string(m[2])], n)
		}
	}
	const name = "shared frontier, claim, complete and add"
	return []row{
		{name: name, kind: wall, item: "URL", fetch: 1 / middle(figures["URLs/s"]),
			target: &Target{Measure: wall, Limit: 1.0 / frontierRate}},
		{name: name + ": server", kind: cpu, item: "URL", fetch: middle(figures["µs-server/URL"]) / 1e6},
		{name: name + ": three workers", kind: cpu, item: "URL", fetch: middle(figures["µs-workers/URL"]) / 1e6},
	}
}

// measureStart compares the start of a mirror of one page with and without a
// shared frontier. The time with a shared frontier includes the creation of its
// tables.
func measureStart(b *block, opts options) []row {
	db, site := peer.Postgres(b, true), startSite(b, 0)
	page := "http://" + site.host(0) + alonePath
	var with, without []usage
	for n := range opts.runs {
		without = append(without, newCrawl(b, opts, nil, "").run(1, 0, page))
		with = append(with, newCrawl(b, opts, db, fmt.Sprint("start", n)).run(1, 0, page))
	}
	var rows []row
	for m := range measures {
		r := row{name: "mirror of one page without --frontier", kind: m, fetch: median(without)[m],
			rival: "with --frontier", other: median(with)[m]}
		if m != memory {
			r.target = &Target{Measure: m, Ratio: 1}
		}
		rows = append(rows, r)
	}
	return rows
}
