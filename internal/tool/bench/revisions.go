package main

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
)

// A pairs has the ratios of one measure for two versions of fetch. The versions
// ran in turn, and each ratio is of one turn.
type pairs struct {
	ratios []float64 // result of fetch divided by the result of the base
	noise  []float64 // second result of the base divided by the first
}

// The verdicts about a version.
const (
	same   = "within the noise"
	faster = "less"
	slower = "MORE"
)

// compareRevisions measures fetch and the base. The base is in programs twice.
func (c Case) compareRevisions(b *block, opts options, programs []program) []row {
	samples := c.measure(b, opts, programs)
	var rows []row
	for m := range measures {
		p := &pairs{}
		for i, now := range samples[0] {
			base, again := samples[1][i][m], samples[2][i][m]
			if base > 0 && again > 0 {
				p.ratios = append(p.ratios, now[m]/((base+again)/2))
				p.noise = append(p.noise, again/base)
			}
		}
		if len(p.ratios) > 0 {
			rows = append(rows, row{name: c.Name, kind: m, fetch: median(samples[0])[m], rival: "base", other: median(samples[1])[m], pairs: p})
		}
	}
	return rows
}

// quartiles returns the 25th, 50th and 75th percentile.
func quartiles(values []float64) (low, mid, high float64) {
	sorted := slices.Sorted(slices.Values(values))
	at := func(share float64) float64 { // interpolates between two values
		x := share * float64(len(sorted)-1)
		i := int(x)
		if i+1 == len(sorted) {
			return sorted[i]
		}
		return sorted[i] + (sorted[i+1]-sorted[i])*(x-float64(i))
	}
	return at(0.25), at(0.5), at(0.75)
}

// verdict compares the middle half of the ratios with the noise. The base is
// neither slower nor faster than itself, so the noise also counts in the other
// direction.
func (p *pairs) verdict() string {
	low, _, high := quartiles(p.ratios)
	noiseLow, _, noiseHigh := quartiles(p.noise)
	noise := max(noiseHigh, 1/noiseLow)
	switch {
	case low > noise:
		return slower
	case high < 1/noise:
		return faster
	}
	return same
}

// printRevisions writes the table of compareRevisions to w.
func printRevisions(w io.Writer, rows []row) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "case\tmeasure\tbase\tfetch\tratio\tmiddle half\tnoise\tresult")
	for _, r := range rows {
		low, mid, high := quartiles(r.pairs.ratios)
		noiseLow, _, noiseHigh := quartiles(r.pairs.noise)
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%.2f\t%.2f to %.2f\t%.2f to %.2f\t%s\n", r.name, r.kind, r.figure(r.other), r.figure(r.fetch),
			mid, low, high, noiseLow, noiseHigh, r.pairs.verdict())
	}
	return tw.Flush()
}
