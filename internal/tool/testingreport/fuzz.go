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
	coverageLayer = "fuzz coverage" // statements that the inputs reach
	runsLayer     = "fuzz runs"     // results of the targets in their last run
)

// fuzzRow returns the row of a fuzz target in a package.
func fuzzRow(pkg, target string, inputs int) Row {
	return Row{Layer: fuzzLayer, Measure: path.Clean(pkg) + ": " + target, Scope: "test", Value: inputs}
}

// fuzzTable returns a table with a line for each target. Figures that were not
// measured are missing.
func fuzzTable(rows, all []Row) string {
	rows = slices.SortedFunc(slices.Values(rows), func(a, b Row) int { return strings.Compare(a.Measure, b.Measure) })
	value := valuesOf(all, coverageLayer)
	runs := valuesOf(all, runsLayer)
	var b strings.Builder
	b.WriteString("| package | fuzz target | stored inputs | with those in the source | statements reached | of | share | executions |\n" +
		"|---|---|---:|---:|---:|---:|---:|---:|\n")
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
			fmt.Fprintf(&b, " %s | %s | %s | %d %% |", number(value[r.Measure+": inputs"]), number(covered), number(all), 100*covered/all)
		} else {
			b.WriteString(" | | | |")
		}
		if n, ok := runs[r.Measure+executions]; ok {
			b.WriteString(" " + number(n))
		}
		b.WriteString(" |\n")
	}
	return b.String()
}

// executions follows the name of a target in the measure of its executions.
const executions = ": executions"

// valuesOf returns the values of a layer by their measures.
func valuesOf(rows []Row, layer string) map[string]int {
	values := map[string]int{}
	for _, r := range rows {
		if r.Layer == layer {
			values[r.Measure] = r.Value
		}
	}
	return values
}

// runsTable returns a table with the sums of all targets that exist.
func runsTable(all []Row) string {
	runs := valuesOf(all, runsLayer)
	targets, sums := 0, map[string]int{}
	for target := range valuesOf(all, fuzzLayer) {
		if _, ok := runs[target+executions]; ok {
			targets++
		}
		for _, measure := range []string{executions, ": failures", ": seconds"} {
			sums[measure] += runs[target+measure]
		}
	}
	return fmt.Sprintf("| | `make fuzz` |\n|---|---:|\n| targets | %s |\n| executions | %s |\n| targets that failed | %s |\n| seconds | %s |\n\nMeasured on %s.\n",
		number(targets), number(sums[executions]), number(sums[": failures"]), number(sums[": seconds"]), dates(all, runsLayer))
}
