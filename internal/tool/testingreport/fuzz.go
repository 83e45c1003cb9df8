package main

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// fuzzLayer is the layer of the numbers of stored inputs of fuzz targets.
const fuzzLayer = "fuzz"

// fuzzRow returns the row of a fuzz target in a package.
func fuzzRow(pkg, target string, inputs int) Row {
	return Row{Layer: fuzzLayer, Measure: path.Clean(pkg) + ": " + target, Scope: "test", Value: inputs}
}

// fuzzTable returns a table with a line for each package. The number of stored
// inputs follows the name of each target.
func fuzzTable(rows []Row) string {
	rows = slices.SortedFunc(slices.Values(rows), func(a, b Row) int { return strings.Compare(a.Measure, b.Measure) })
	var b strings.Builder
	b.WriteString("| package | fuzz targets, with the number of their stored inputs | stored inputs |\n|---|---|---:|\n")
	for len(rows) > 0 {
		pkg, _, _ := strings.Cut(rows[0].Measure, ": ")
		var targets []string
		sum := 0
		for len(rows) > 0 && strings.HasPrefix(rows[0].Measure, pkg+": ") {
			targets = append(targets, fmt.Sprintf("%s %d", strings.TrimPrefix(rows[0].Measure, pkg+": "), rows[0].Value))
			sum += rows[0].Value
			rows = rows[1:]
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", pkg, strings.Join(targets, ", "), number(sum))
	}
	return b.String()
}
