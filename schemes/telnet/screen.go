package telnet

// Screen size of a 3278 model 2 terminal.
const (
	rows  = 24
	cols  = 80
	cells = rows * cols
)

// Bits of a field attribute (GA23-0059 section 4.3.1).
const (
	protected = 0x20
	numeric   = 0x10
	display   = 0x0c // mask of the display bits
	bright    = 0x08
	hidden    = 0x0c
	modified  = 0x01
)

// A cell is one position on a 3270 screen. It contains a character or the
// attribute of the field that starts in the next cell.
type cell struct {
	code        byte // character in the code page of the host, or attribute; 0 means empty
	isAttribute bool // code is an attribute
	graphic     bool // code is a character of the alternate character set
}

// A screen is the display buffer of a 3270 terminal.
type screen struct {
	cells  [cells]cell
	addr   int // buffer address of the next order
	cursor int
	locked bool // keyboard locked while the host updates the screen
}

func newScreen() *screen { return &screen{locked: true} }

func (s *screen) put(c cell) {
	s.cells[s.addr] = c
	s.addr = (s.addr + 1) % cells
}

func (s *screen) clear() {
	s.cells = [cells]cell{}
	s.addr, s.cursor = 0, 0
}

// field returns the position of the attribute of the field that contains the
// given position. It returns false if the screen has no fields.
func (s *screen) field(at int) (int, bool) {
	for range cells {
		if s.cells[at].isAttribute {
			return at, true
		}
		at = (at + cells - 1) % cells
	}
	return 0, false
}

// attribute returns the attribute of the field that contains the given
// position.
func (s *screen) attribute(at int) byte {
	if start, ok := s.field(at); ok {
		return s.cells[start].code
	}
	return 0
}

// eraseUnprotected clears the unprotected cells in the range [from, to). If
// from equals to, the range is the complete screen.
func (s *screen) eraseUnprotected(from, to int) {
	attribute := s.attribute(from)
	for at, first := from, true; first || at != to; at, first = (at+1)%cells, false {
		if c := &s.cells[at]; c.isAttribute {
			attribute = c.code
		} else if attribute&protected == 0 {
			*c = cell{}
		}
	}
}

// tab moves the buffer address to the next unprotected field. If clear is true,
// tab also clears the remaining cells of the current field.
func (s *screen) tab(clear bool) {
	for clear && !s.cells[s.addr].isAttribute && s.addr != 0 {
		s.put(cell{})
	}
	for at := s.addr; at < cells; at++ {
		if c := s.cells[at]; c.isAttribute && c.code&protected == 0 {
			s.addr = (at + 1) % cells
			return
		}
	}
	s.addr = 0
}
