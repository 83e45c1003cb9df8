package main

import (
	"fmt"
	"slices"
	"strings"
)

// mutantsLayer is the layer of the results of internal/tool/mutants.
const mutantsLayer = "mutants"

// The results of the mutants of a package, which follow its name in a measure.
const (
	killed     = ": killed"
	survived   = ": survived"
	equivalent = ": equivalent"
	notReached = ": not reached"
	notTested  = ": not tested"
)

// mutantsTable returns a table with a line for each package.
func mutantsTable(rows []Row) string {
	var packages []string
	for _, r := range rows {
		pkg, _, _ := strings.Cut(r.Measure, ":")
		packages = append(packages, pkg)
	}
	slices.Sort(packages)
	var b strings.Builder
	b.WriteString("| package | mutants that tests reach | killed | survived | share killed | equivalent | not reached | not tested | date |\n|---|---:|---:|---:|---:|---:|---:|---:|---|\n")
	for _, pkg := range slices.Compact(packages) {
		value := func(of string) int {
			if i := slices.IndexFunc(rows, func(r Row) bool { return r.Measure == pkg+of }); i >= 0 {
				return rows[i].Value
			}
			return 0
		}
		i := slices.IndexFunc(rows, func(r Row) bool { return r.Measure == pkg+killed })
		reached := value(killed) + value(survived)
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %d %% | %s | %s | %s | %s |\n", pkg, number(reached), number(value(killed)), number(value(survived)),
			100*value(killed)/max(1, reached), number(value(equivalent)), number(value(notReached)), number(value(notTested)), rows[i].Date)
	}
	return b.String()
}
