package main

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// The layers of fuzz targets.
const (
	fuzzLayer     = "fuzz"          // numbers of stored inputs
	coverageLayer = "fuzz coverage" // results of internal/tool/fuzz
)

// fuzzRow returns the row of a fuzz target in a package.
func fuzzRow(pkg, target string, inputs int) Row {
	return Row{Layer: fuzzLayer, Measure: path.Clean(pkg) + ": " + target, Scope: "test", Value: inputs}
}

// fuzzTable returns a table with a line for each target. Targets whose coverage
// was not measured have no further figures.
func fuzzTable(rows, coverage []Row) string {
	rows = slices.SortedFunc(slices.Values(rows), func(a, b Row) int { return strings.Compare(a.Measure, b.Measure) })
	value := map[string]int{}
	for _, r := range coverage {
		if r.Layer == coverageLayer {
			value[r.Measure] = r.Value
		}
	}
	var b strings.Builder
	b.WriteString("| package | fuzz target | stored inputs | with those in the source | statements reached | of | share |\n|---|---|---:|---:|---:|---:|---:|\n")
	last := ""
	for _, r := range rows {
		pkg, target, _ := strings.Cut(r.Measure, ": ")
		name := ""
		if pkg != last {
			name, last = "`"+pkg+"`", pkg
		}
		fmt.Fprintf(&b, "| %s | %s | %s |", name, target, number(r.Value))
		if all := value[r.Measure+": statements"]; all > 0 {
			covered := value[r.Measure+": covered"]
			fmt.Fprintf(&b, " %s | %s | %s | %d %% |\n", number(value[r.Measure+": inputs"]), number(covered), number(all), 100*covered/all)
		} else {
			b.WriteString(" | | | |\n")
		}
	}
	return b.String()
}
