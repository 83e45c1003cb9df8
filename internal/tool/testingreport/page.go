package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// The marks around a table of the page. The text between begin and beginEnd is
// the layer.
const (
	begin    = "<!-- results: "
	beginEnd = " -->\n"
	end      = "<!-- end -->\n"
)

// fill returns the page with the tables of r between the marks.
func fill(page string, r Results) (string, error) {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(page, begin)
		b.WriteString(before)
		if !found {
			return b.String(), nil
		}
		layer, rest, ok := strings.Cut(rest, beginEnd)
		_, after, closed := strings.Cut(rest, end)
		if !ok || !closed {
			return "", fmt.Errorf("the mark of the table %q is not closed", layer)
		}
		b.WriteString(begin + layer + beginEnd + table(layer, r) + end)
		page = after
	}
}

// table returns the table of a layer, or a line about the machine.
func table(layer string, r Results) string {
	if layer == "machine" {
		return fmt.Sprintf("The figures are from commit `%s`, %s, %s.\n", r.Commit, r.Go, r.Machine)
	}
	var rows []Row // one for each measure
	scopes := map[string]bool{}
	for _, row := range r.Rows {
		if row.Layer != layer {
			continue
		}
		scopes[row.Scope] = true
		if !slices.ContainsFunc(rows, func(o Row) bool { return o.Measure == row.Measure }) {
			rows = append(rows, row)
		}
	}
	if len(rows) == 0 {
		return "There are no figures yet.\n"
	}
	switch layer {
	case mutantsLayer:
		return mutantsTable(rows)
	case bugsLayer:
		return bugsTable(rows)
	case fuzzLayer:
		return fuzzTable(rows, r.Rows)
	case runsLayer:
		return runsTable(r.Rows)
	}
	var columns []string
	for _, s := range []string{"test", "simulate", "loaded", "soak"} {
		if scopes[s] {
			columns = append(columns, s)
		}
	}
	var b strings.Builder
	b.WriteString("| |")
	for _, s := range columns {
		fmt.Fprintf(&b, " `make %s` |", s)
	}
	b.WriteString("\n|---|" + strings.Repeat("---:|", len(columns)) + "\n")
	for _, m := range rows {
		fmt.Fprintf(&b, "| %s |", m.Measure)
		for _, s := range columns {
			text := ""
			if i := slices.IndexFunc(r.Rows, Row{Layer: layer, Measure: m.Measure, Scope: s}.isSame); i >= 0 {
				text = number(r.Rows[i].Value)
			}
			fmt.Fprintf(&b, " %s |", text)
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "\nMeasured on %s.\n", dates(r.Rows, layer))
	return b.String()
}

// number formats n with commas between groups of three digits.
func number(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// dates returns the days on which the figures of a layer were measured.
func dates(rows []Row, layer string) string {
	var all []string
	for _, r := range rows {
		if r.Layer == layer {
			all = append(all, r.Date)
		}
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), " and ")
}
