package main

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// A row compares the results of fetch and of one rival for one measure.
type row struct {
	name   string
	kind   measure
	fetch  float64
	rival  string
	other  float64 // 0 if the rival is missing
	target *Target // nil without a target
	item   string  // if not empty, the times are for one item, such as one "file"
	pairs  *pairs  // results of two revisions; nil for a rival
}

// figure formats a result of r with its unit.
func (r row) figure(value float64) string {
	if r.item == "" || r.kind == memory {
		return figure(r.kind, value)
	}
	return fmt.Sprintf("%.2f µs/%s", value*1e6, r.item)
}

// rows returns one row for each measure and rival. For a case without rivals, it
// returns one row for each measure.
func (c Case) rows(programs []program, samples [][]usage) []row {
	var rows []row
	ours := median(samples[0])
	for m := range measures {
		for i, p := range programs[1:] {
			r := row{name: c.Name, kind: m, fetch: ours[m], rival: p.name}
			if p.path != "" {
				r.other = median(samples[i+1])[m]
			}
			if p.name == c.Rivals[0].name() {
				r.target = c.target(m)
			}
			rows = append(rows, r)
		}
		if len(programs) == 1 {
			rows = append(rows, row{name: c.Name, kind: m, fetch: ours[m], target: c.target(m)})
		}
	}
	return rows
}

func (c Case) target(m measure) *Target {
	for i := range c.Targets {
		if c.Targets[i].Measure == m {
			return &c.Targets[i]
		}
	}
	return nil
}

func (r row) ratio() float64 { return r.fetch / r.other }

// missed reports whether r misses its target. If the rival is not installed, a
// target ratio cannot be checked and does not count as missed.
func (r row) missed() bool {
	switch {
	case r.pairs != nil:
		return r.pairs.verdict() == slower
	case r.target == nil:
		return false
	case r.target.Limit > 0 && r.fetch > r.target.Limit:
		return true
	case r.target.Ratio > 0:
		return r.other > 0 && r.ratio() > r.target.Ratio
	}
	return false
}

// unknown reports whether r has a target ratio that cannot be compared, because
// the rival is missing.
func (r row) unknown() bool { return r.target != nil && r.target.Ratio > 0 && r.other <= 0 }

func (r row) verdict() string {
	if r.target == nil {
		return ""
	}
	var want string
	if r.target.Ratio > 0 {
		want += fmt.Sprintf(" ratio %.2f", r.target.Ratio)
	}
	if r.target.Limit > 0 {
		want += " " + figure(r.kind, r.target.Limit)
	}
	switch {
	case r.missed():
		return "MISSED, at most" + want
	case r.unknown():
		return "not compared, at most" + want
	}
	return "met, at most" + want
}

func figure(m measure, value float64) string {
	switch {
	case m == memory:
		return fmt.Sprintf("%.1f MiB", value/(1<<20))
	case m == pagesPerMinute:
		return fmt.Sprintf("%.0f", value)
	case m == syncs:
		return fmt.Sprintf("%.3f", value)
	case value < 0.1:
		return fmt.Sprintf("%.2f ms", value*1000)
	}
	return fmt.Sprintf("%.3f s", value)
}

// print writes the table of results to w, followed by the number of targets that
// were met and the smallest memory that can be measured.
func print(w io.Writer, rows []row, least float64) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "case\tmeasure\tfetch\trival\t\tratio\ttarget")
	var targets, met, unknown int
	for _, r := range rows {
		switch {
		case r.target == nil:
		case r.missed():
			targets++
		case r.unknown():
			unknown++
		default:
			targets, met = targets+1, met+1
		}
		rival, other, ratio := "-", "", ""
		switch {
		case r.rival != "" && r.other <= 0:
			rival, other = r.rival, "missing"
		case r.rival != "":
			rival, other, ratio = r.rival, r.figure(r.other), fmt.Sprintf("%.2f", r.ratio())
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.name, r.kind, r.figure(r.fetch), rival, other, ratio, r.verdict())
	}
	fmt.Fprintf(tw, "%d of %d targets are met; not compared: %d.\n", met, targets, unknown)
	fmt.Fprintf(tw, "The smallest measurable memory is %s.\n", figure(memory, least))
	return tw.Flush()
}
