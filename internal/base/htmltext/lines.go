package htmltext

import (
	"strings"
	"unicode"

	"github.com/anyurl/fetch/internal/base/tty"
)

// A lineWriter writes words to lines of a given width.
type lineWriter struct {
	strings.Builder
	width   int
	limit   int    // preformatted adds no line if the text is longer than this
	indent  int    // indent of the next lines, in columns
	marker  string // mark of a list item, such as "* ", for the next line
	column  int    // columns used in the current line
	longest int    // longest line since the last reset, in columns
	start   int    // column of the first word in the current line
	gap     int    // line ends before the next word: 1 for a new line, 2 for an empty line
	space   bool   // write a space before the next word
	sep     bool   // write a separator of table cells before the next word
	word    []byte // a word that may continue
}

// maxWord is the maximum size of a word in bytes. A longer word is divided.
const maxWord = 4 << 10

// add adds running text, in which white space separates words.
func (w *lineWriter) add(text string) {
	for _, r := range text {
		switch {
		case r == ' ' || r == '\n' || r == '\t' || r == '\r' || r == '\f':
			w.flush()
			w.space = true
		case r >= 0x300 && tty.RuneWidth(r) == 2: // a line may end after a wide character
			w.flush()
			w.word = append(w.word, string(r)...)
			w.flush()
		default:
			w.word = append(w.word, string(r)...)
			if len(w.word) >= maxWord {
				w.flush()
			}
		}
	}
}

// flush writes the current word.
func (w *lineWriter) flush() {
	if len(w.word) == 0 {
		return
	}
	columns := tty.Width(string(w.word))
	gapColumns := 0
	if w.sep {
		gapColumns = len(cellSeparator)
	} else if w.space {
		gapColumns = 1
	}
	if w.gap == 0 && w.column > w.start && w.column+gapColumns+columns > w.width {
		w.gap = 1
	}
	w.begin()
	if w.column > w.start {
		switch {
		case w.sep:
			w.WriteString(cellSeparator)
			w.column += len(cellSeparator)
		case w.space:
			w.WriteByte(' ')
			w.column++
		}
	}
	w.put(string(w.word), columns)
	w.word, w.space, w.sep = w.word[:0], false, false
}

const cellSeparator = " | "

// put writes text to the current line.
func (w *lineWriter) put(text string, columns int) {
	w.WriteString(text)
	w.column += columns
	w.longest = max(w.longest, w.column-w.start)
}

// begin writes the line ends and the indent before a word.
func (w *lineWriter) begin() {
	if w.gap == 0 && w.Len() > 0 {
		return
	}
	if w.Len() > 0 {
		w.WriteString("\n\n"[:w.gap])
	}
	indent := min(w.indent, w.width/2)
	spaces := max(indent-len(w.marker), 0)
	w.WriteString(strings.Repeat(" ", spaces))
	w.WriteString(w.marker)
	w.column = spaces + len(w.marker)
	w.start, w.marker, w.gap, w.space, w.sep = w.column, "", 0, false, false
}

// breakLine ends the current word. If n is 1, it ends the line. If n is 2, an
// empty line follows.
func (w *lineWriter) breakLine(n int) {
	w.flush()
	if w.Len() > 0 {
		w.gap = max(w.gap, n)
	}
	w.space, w.sep = false, false
}

// preformatted adds text in which spaces and line ends are kept.
func (w *lineWriter) preformatted(text string) {
	first := true
	for line := range strings.SplitSeq(text, "\n") {
		if w.Len() > w.limit { // each line is indented, so that the text can become much longer
			return
		}
		if !first {
			if w.gap > 0 || w.column == 0 { // an empty line
				w.begin()
			}
			w.gap = 1
		}
		first = false
		if line != "" {
			w.begin()
			w.put(line, tty.Width(line))
		}
	}
}

// mark adds text, such as a link number, directly after the last word. A
// pending line break follows the text.
func (w *lineWriter) mark(text string) {
	w.flush()
	if w.Len() == 0 {
		w.begin()
	}
	w.put(text, len(text))
}

// rule writes a horizontal line that consists of the character c.
func (w *lineWriter) rule(c string, columns int) {
	w.breakLine(1)
	w.begin()
	w.put(strings.Repeat(c, max(min(columns, w.width-w.column), 1)), columns)
	w.breakLine(1)
}

// finish ends the last line.
func (w *lineWriter) finish() {
	w.flush()
	if w.Len() > 0 {
		w.WriteByte('\n')
	}
}

// isBlank reports whether text has only white space.
func isBlank(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return !unicode.IsSpace(r) }) < 0
}
