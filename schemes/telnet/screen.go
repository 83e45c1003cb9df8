package telnet

// The size of a 3278 model 2.
const (
	rows  = 24
	cols  = 80
	cells = rows * cols
)

// The bits of a field's attribute (GA23-0059 4.3.1).
const (
	protected = 0x20
	numeric   = 0x10
	display   = 0x0c // these two bits
	bright    = 0x08
	hidden    = 0x0c
	modified  = 0x01
)

// A cell is one place on the screen: a character, or the attribute of the
// field that begins behind it.
type cell struct {
	code    byte // in the host's code page; 0: nothing
	begins  bool // code is an attribute
	graphic bool // code is one of the other character set
}

// A screen is the buffer of a terminal.
type screen struct {
	cells  [cells]cell
	at     int // where the next order acts
	cursor int
	locked bool // the keyboard: the host is at work
}

func newScreen() *screen { return &screen{locked: true} }

func (s *screen) put(c cell) {
	s.cells[s.at] = c
	s.at = (s.at + 1) % cells
}

func (s *screen) clear() {
	s.cells = [cells]cell{}
	s.at, s.cursor = 0, 0
}

// field returns where the field of a place begins, and false on a screen
// without any.
func (s *screen) field(at int) (int, bool) {
	for range cells {
		if s.cells[at].begins {
			return at, true
		}
		at = (at + cells - 1) % cells
	}
	return 0, false
}

// attribute is that of the field of a place.
func (s *screen) attribute(at int) byte {
	if start, ok := s.field(at); ok {
		return s.cells[start].code
	}
	return 0
}

// eraseUnprotected clears what a person could have written from one place up
// to another; the same place stands for everything.
func (s *screen) eraseUnprotected(from, to int) {
	attribute := s.attribute(from)
	for at, first := from, true; first || at != to; at, first = (at+1)%cells, false {
		if c := &s.cells[at]; c.begins {
			attribute = c.code
		} else if attribute&protected == 0 {
			*c = cell{}
		}
	}
}

// tab moves on to where a person could write next. Where clear is set the rest
// of this field goes.
func (s *screen) tab(clear bool) {
	for clear && !s.cells[s.at].begins && s.at != 0 {
		s.put(cell{})
	}
	for at := s.at; at < cells; at++ {
		if c := s.cells[at]; c.begins && c.code&protected == 0 {
			s.at = (at + 1) % cells
			return
		}
	}
	s.at = 0
}
