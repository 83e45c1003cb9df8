// Package chart draws charts as SVG elements for HTML pages. They need no script
// and no style attribute. Their classes are defined in the style sheet of the
// page, which also sets their size.
package chart

import (
	"html/template"
	"strconv"
	"strings"
)

// Bar returns a horizontal bar for a cell of a table. The bar for limit is as long
// as the cell. The number must also be in the table, because screen readers skip
// the bar.
func Bar(value, limit int64) template.HTML {
	return template.HTML(`<svg class="bar" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">` +
		`<rect width="` + number(share(value, limit)*100) + `" height="1"/></svg>`)
}

// height is the height of the charts that Columns and Area return, in SVG
// units.
const height = 40

// minColumns is the number of columns for which a chart has room at least. The
// columns of a short list are therefore narrow.
const minColumns = 24

// Columns returns a chart with a column for each element of columns. A column
// consists of values that are stacked, beginning at the bottom. Elements of the
// n-th value have the class sN, such as s1. The label describes the chart for
// screen readers.
func Columns(label string, columns [][]int64) template.HTML {
	limit := int64(0)
	for _, values := range columns {
		limit = max(limit, sum(values))
	}
	var b strings.Builder
	open(&b, "columns", label, max(len(columns), minColumns))
	for i, values := range columns {
		below := int64(0)
		for n, value := range values {
			if value = max(value, 0); value == 0 {
				continue
			}
			top := sum([]int64{below, value})
			low, high := share(below, limit)*height, share(top, limit)*height
			if below = top; high <= low {
				continue
			}
			b.WriteString(`<rect class="s` + strconv.Itoa(n+1) + `" x="` + number(float64(i)+.1) + `" y="` + number(height-high) +
				`" width="0.8" height="` + number(high-low) + `"/>`)
		}
	}
	b.WriteString("</svg>")
	return template.HTML(b.String())
}

// Area returns a chart of values at equal distances, as a filled area below a
// line. The label describes the chart for screen readers.
func Area(label string, values []int64) template.HTML {
	limit := int64(0)
	for _, value := range values {
		limit = max(limit, value)
	}
	if len(values) == 1 {
		values = []int64{values[0], values[0]}
	}
	var b strings.Builder
	open(&b, "area", label, len(values)-1)
	b.WriteString(`<path d="M0 ` + number(height))
	for i, value := range values {
		b.WriteString("L" + strconv.Itoa(i) + " " + number(height-share(value, limit)*height))
	}
	b.WriteString("L" + strconv.Itoa(max(len(values)-1, 0)) + " " + number(height) + `Z"/></svg>`)
	return template.HTML(b.String())
}

// open writes the start tag of a chart with the given width.
func open(b *strings.Builder, class, label string, width int) {
	b.WriteString(`<svg class="` + class + `" role="img" aria-label="` + template.HTMLEscapeString(label) + `" viewBox="0 0 ` +
		strconv.Itoa(max(width, 1)) + ` ` + number(height) + `" preserveAspectRatio="none">`)
}

// share returns value/limit, limited to the range from 0 to 1.
func share(value, limit int64) float64 {
	if value <= 0 || limit <= 0 {
		return 0
	}
	return min(float64(value)/float64(limit), 1)
}

// sum returns the sum of the positive values. It does not overflow.
func sum(values []int64) (total int64) {
	for _, value := range values {
		if value = max(value, 0); total > 1<<62-value {
			return 1 << 62
		}
		total += value
	}
	return total
}

// number formats a coordinate with at most two decimal places.
func number(x float64) string {
	text := strconv.FormatFloat(x, 'f', 2, 64)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}
