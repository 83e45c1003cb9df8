package telnet

import (
	"encoding/json"
	"strings"
	"unicode"

	"golang.org/x/text/encoding/charmap"
)

// A Screen is the JSON representation of a tn3270 screen (see Options.JSON).
// Row and column numbers start at 1. Hidden text, such as passwords, is
// replaced by spaces.
type Screen struct {
	Rows   int      `json:"rows"`
	Cols   int      `json:"cols"`
	Cursor Place    `json:"cursor"`
	Lines  []string `json:"lines"` // all rows, without trailing spaces
	Fields []Field  `json:"fields"`
}

// A Place is a position on a [Screen].
type Place struct {
	Row int `json:"row"`
	Col int `json:"col"`
}

// A Field is a range of characters of a [Screen] with the same attributes.
type Field struct {
	Place            // position of the first character
	Length    int    `json:"length"` // in characters; a field can span rows and wrap from the last row to the first
	Text      string `json:"text"`   // without trailing spaces
	Protected bool   `json:"protected,omitempty"`
	Numeric   bool   `json:"numeric,omitempty"`
	Bright    bool   `json:"bright,omitempty"`
	Hidden    bool   `json:"hidden,omitempty"`
	Modified  bool   `json:"modified,omitempty"`
}

func place(at int) Place { return Place{at/cols + 1, at%cols + 1} }

// text returns the visible text of the screen.
func (s *screen) text(page *charmap.Charmap) []byte {
	lines := s.lines(page)
	return []byte(strings.TrimRight(strings.Join(lines, "\n"), "\n") + "\n")
}

func (s *screen) json(page *charmap.Charmap) []byte {
	// Marshal does not fail for a Screen.
	text, _ := json.Marshal(Screen{rows, cols, place(s.cursor), s.lines(page), s.allFields(page)})
	return append(text, '\n')
}

func (s *screen) lines(page *charmap.Charmap) []string {
	attribute := s.attribute(cells - 1)
	var lines []string
	var line strings.Builder
	for at, c := range s.cells {
		if c.isAttribute {
			attribute = c.code
		}
		line.WriteRune(c.rune(page, attribute))
		if at%cols == cols-1 {
			lines = append(lines, strings.TrimRight(line.String(), " "))
			line.Reset()
		}
	}
	return lines
}

// rune returns the visible character of a screen cell. Attributes and hidden
// characters are returned as spaces.
func (c cell) rune(page *charmap.Charmap, attribute byte) rune {
	switch {
	case c.isAttribute, c.code == 0, attribute&display == hidden:
		return ' '
	case c.graphic:
		return unicode.ReplacementChar // character of an unknown character set
	}
	r := page.DecodeByte(c.code)
	if unicode.IsControl(r) || unicode.IsSpace(r) {
		return ' '
	}
	return r
}

func (s *screen) allFields(page *charmap.Charmap) []Field {
	fields := []Field{}
	for at, c := range s.cells {
		if !c.isAttribute {
			continue
		}
		f := Field{
			Place:     place((at + 1) % cells),
			Protected: c.code&protected != 0,
			Numeric:   c.code&numeric != 0,
			Bright:    c.code&display == bright,
			Hidden:    c.code&display == hidden,
			Modified:  c.code&modified != 0,
		}
		var text strings.Builder
		for next := (at + 1) % cells; !s.cells[next].isAttribute; next = (next + 1) % cells {
			text.WriteRune(s.cells[next].rune(page, c.code))
			f.Length++
		}
		f.Text = strings.TrimRight(text.String(), " ")
		fields = append(fields, f)
	}
	return fields
}
