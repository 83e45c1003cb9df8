package markdown

import "strings"

// A cell contains the words of one cell of a table.
type cell []word

// gap is the number of spaces between two columns.
const gap = 2

// table converts the rows of a table to columns that fit the width. If even the
// longest words of the columns do not fit side by side, each cell has its own
// lines.
func (r *renderer) table(lines []string) {
	var rows [][]cell
	columns, header := 0, false
	for i, line := range lines {
		if separator().MatchString(strings.TrimRight(line, " ")) {
			header = i == 1
			continue
		}
		row := r.row(line)
		columns = max(columns, len(row))
		rows = append(rows, row)
	}
	for i := range rows {
		for len(rows[i]) < columns {
			rows[i] = append(rows[i], nil)
		}
	}
	if len(rows) == 0 { // only separators
		return
	}
	if header && emptyRow(rows[0]) {
		rows, header = rows[1:], false
	}
	widths, fits := columnWidths(rows, columns, r.Width)
	for i, row := range rows {
		if !fits {
			r.stackedRow(row)
			continue
		}
		r.alignedRow(row, widths)
		if header && i == 0 {
			r.rule(widths)
		}
	}
	r.out.WriteString("\n")
}

// row splits a line into cells. The sequence \| is a literal character.
func (r *renderer) row(line string) (cells []cell) {
	line = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(line), "|"), "|")
	line = strings.ReplaceAll(line, `\|`, "\x00")
	for text := range strings.SplitSeq(line, "|") {
		cells = append(cells, words(strings.ReplaceAll(text, "\x00", "|"), r.Styles))
	}
	return cells
}

func emptyRow(row []cell) bool {
	for _, c := range row {
		if len(c) > 0 {
			return false
		}
	}
	return true
}

// columnWidths returns the width of each column. It makes the widest columns
// narrower until the table fits. The result false means that the longest words
// do not fit side by side.
func columnWidths(rows [][]cell, columns, limit int) (widths []int, fits bool) {
	widths, shortest := make([]int, columns), make([]int, columns)
	total := gap * (columns - 1)
	for i := range columns {
		for _, row := range rows {
			widths[i] = max(widths[i], width(row[i]))
			for _, w := range row[i] {
				shortest[i] = max(shortest[i], w.width)
			}
		}
		total += widths[i]
	}
	for ; total > limit; total-- {
		widest := -1
		for i := range columns {
			if widths[i] > shortest[i] && (widest < 0 || widths[i] > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return widths, false
		}
		widths[widest]--
	}
	return widths, true
}

// alignedRow writes a row whose cells are side by side.
func (r *renderer) alignedRow(row []cell, widths []int) {
	height := 1
	var cells [][][]word // words of each line of each cell
	for i, c := range row {
		lines := splitLines(c, widths[i])
		cells = append(cells, lines)
		height = max(height, len(lines))
	}
	for n := range height {
		line, pending := "", 0 // pending spaces before the next text
		for i, lines := range cells {
			used := 0
			if n < len(lines) {
				used = width(lines[n])
				if used > 0 {
					line += strings.Repeat(" ", pending) + join(lines[n])
					pending = 0
				}
			}
			pending += widths[i] - used + gap
		}
		r.out.WriteString(line + "\n")
	}
}

// splitLines splits words into lines of at most the given number of columns.
func splitLines(all []word, columns int) (lines [][]word) {
	start := 0
	for i := range all {
		if i > start && width(all[start:i+1]) > columns {
			lines = append(lines, all[start:i])
			start = i
		}
	}
	return append(lines, all[start:])
}

func join(all []word) string {
	var parts []string
	for _, w := range all {
		parts = append(parts, w.text)
	}
	return strings.Join(parts, " ")
}

// rule writes the line below the header of a table.
func (r *renderer) rule(widths []int) {
	var parts []string
	for _, n := range widths {
		parts = append(parts, strings.Repeat("-", n))
	}
	r.out.WriteString(strings.Join(parts, strings.Repeat(" ", gap)) + "\n")
}

// stackedRow writes the cells of a row one below the other.
func (r *renderer) stackedRow(row []cell) {
	indent := ""
	for _, c := range row {
		if len(c) > 0 {
			r.out.WriteString(strings.Join(wrap(c, r.Width, indent, indent), "\n") + "\n")
		}
		indent = "  "
	}
}
