package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// bugsLayer is the layer of the results of internal/tool/seededbugs.
const bugsLayer = "seeded bugs"

// bugFiles matches the files with the bugs, below the root of the repository.
const bugFiles = "internal/test/seeded/*.patch"

// The results of a bug, which follow its name in a measure.
const (
	caught  = ": caught" // 1 if a test failed, 0 if none failed, or unmeasured
	seconds = ": seconds"
)

// unmeasured is the result of a bug that was not checked yet.
const unmeasured = -1

// addUnmeasured adds a row for each patch that has no result.
func addUnmeasured(rows []Row, patches []string, date string) []Row {
	for _, p := range patches {
		r := Row{Layer: bugsLayer, Measure: strings.TrimSuffix(filepath.Base(p), ".patch") + caught, Scope: "test", Value: unmeasured, Date: date}
		if !slices.ContainsFunc(rows, r.isSame) {
			rows = append(rows, r)
		}
	}
	return rows
}

// existingBugs returns rows without the results of bugs whose patch was removed.
func existingBugs(rows []Row, patches []string) (kept []Row) {
	var names []string
	for _, p := range patches {
		names = append(names, strings.TrimSuffix(filepath.Base(p), ".patch"))
	}
	for _, r := range rows {
		if name, _, _ := strings.Cut(r.Measure, ":"); r.Layer != bugsLayer || slices.Contains(names, name) {
			kept = append(kept, r)
		}
	}
	return kept
}

// bugsTable returns a table with a line for each bug.
func bugsTable(rows []Row) string {
	var b strings.Builder
	found, all := 0, 0
	rows = slices.SortedFunc(slices.Values(rows), func(a, b Row) int { return strings.Compare(a.Measure, b.Measure) })
	b.WriteString("| patch | result | seconds | date |\n|---|---|---:|---|\n")
	for _, r := range rows {
		name, ok := strings.CutSuffix(r.Measure, caught)
		if !ok {
			continue
		}
		result, took := "**missed**", 0
		all++
		switch {
		case r.Value == unmeasured:
			result = "not measured"
		case r.Value > 0:
			found++
			result = "caught"
		}
		if i := slices.IndexFunc(rows, func(o Row) bool { return o.Measure == name+seconds }); i >= 0 {
			took = rows[i].Value
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", name, result, number(took), r.Date)
	}
	return fmt.Sprintf("Tests caught %d of %d bugs.\n\n", found, all) + b.String()
}
