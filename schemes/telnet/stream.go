package telnet

import (
	"github.com/anyurl/fetch/fetch"
)

// A reader takes a record of the 3270 data stream apart. Beyond its end it
// reads zeros and remembers that it did.
type reader struct {
	text []byte
	cut  bool
}

func (r *reader) more() bool { return len(r.text) > 0 }

func (r *reader) byte() byte {
	if len(r.text) == 0 {
		r.cut = true
		return 0
	}
	b := r.text[0]
	r.text = r.text[1:]
	return b
}

// address reads one of 12 or of 14 bits (GA23-0059 4.1.3).
func (r *reader) address() (int, error) {
	high, low := r.byte(), r.byte()
	at := int(high&0x3f)<<6 | int(low&0x3f)
	if high&0xc0 == 0 {
		at = int(high)<<8 | int(low)
	}
	if at >= cells {
		return 0, fetch.Protocol.Errorf("place %d on a screen of %d", at, cells)
	}
	return at, nil
}

// draw carries out a record: a command and what belongs to it.
func (s *screen) draw(record []byte) error {
	r := &reader{text: record}
	if !r.more() {
		return nil
	}
	if err := s.command(r); err != nil {
		return err
	}
	if r.cut {
		return fetch.Protocol.Errorf("3270 data stream ends within an order")
	}
	return nil
}

// command knows the codes of local and of remote terminals (GA23-0059 3.2).
// Those that read the screen are for a person who has typed.
func (s *screen) command(r *reader) error {
	switch c := r.byte(); c {
	case 0xf1, 0x01: // Write
		s.at = s.cursor
		return s.write(r)
	case 0xf5, 0x05, 0x7e, 0x0d: // Erase/Write, and its Alternate, which has the same size
		s.clear()
		return s.write(r)
	case 0x6f, 0x0f: // Erase All Unprotected
		s.eraseUnprotected(0, 0)
		s.locked = false
		return nil
	case 0xf3, 0x11: // Write Structured Field
		return s.fields(r)
	case 0xf2, 0x02, 0xf6, 0x06, 0x6e, 0x0e, 0xf7, 0x0b: // Read, Select, Control
		return nil
	default:
		return fetch.Protocol.Errorf("command %#02x is not of the 3270 data stream", c)
	}
}

// fields carries out those structured fields that write on the screen.
func (s *screen) fields(r *reader) error {
	for r.more() {
		n := int(r.byte())<<8 | int(r.byte())
		if n == 0 {
			n = len(r.text) + 2
		}
		if n < 3 || n-2 > len(r.text) {
			return fetch.Protocol.Errorf("structured field of %d bytes where %d are left", n, len(r.text)+2)
		}
		field := &reader{text: r.text[:n-2]}
		r.text = r.text[n-2:]
		if field.byte() != 0x40 { // Outbound 3270DS
			continue
		}
		field.byte() // the partition: there is one
		if !field.more() || field.text[0] == 0xf3 || field.text[0] == 0x11 {
			return fetch.Protocol.Errorf("structured field without a command, or with another one like it")
		}
		if err := s.draw(field.text); err != nil {
			return err
		}
	}
	return nil
}

// write carries out what follows a command that writes: the write control
// character, orders and text.
func (s *screen) write(r *reader) error {
	if !r.more() {
		return nil // some hosts leave even the control character out
	}
	if r.byte()&0x02 != 0 {
		s.locked = false
	}
	text := false // behind text or an order that leaves some
	for r.more() {
		was := text
		text = false
		var err error
		switch b := r.byte(); b {
		case 0x11: // Set Buffer Address
			s.at, err = r.addressOr(s.at)
		case 0x1d: // Start Field
			s.put(cell{code: r.byte(), begins: true})
		case 0x29: // Start Field Extended
			s.put(cell{code: r.pairs(0), begins: true})
		case 0x2c: // Modify Field
			s.modify(r)
		case 0x28: // Set Attribute: colours
			r.byte()
			r.byte()
		case 0x13: // Insert Cursor
			s.cursor = s.at
		case 0x05: // Program Tab
			s.tab(was)
		case 0x3c: // Repeat to Address
			err = s.repeat(r)
		case 0x12: // Erase Unprotected to Address
			var to int
			if to, err = r.addressOr(s.at); err == nil {
				s.eraseUnprotected(s.at, to)
				s.at = to
			}
		case 0x08: // Graphic Escape
			s.put(cell{code: r.byte(), graphic: true})
			text = true
		default:
			s.put(cell{code: b})
			text = true
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// addressOr is address; of a record that is cut, another.
func (r *reader) addressOr(other int) (int, error) {
	if at, err := r.address(); !r.cut {
		return at, err
	}
	return other, nil
}

// pairs reads a count and as many pairs of type and value, and returns the
// attribute of a field among them, or the one given.
func (r *reader) pairs(attribute byte) byte {
	for n := r.byte(); n > 0 && !r.cut; n-- {
		if kind, value := r.byte(), r.byte(); kind == 0xc0 {
			attribute = value
		}
	}
	return attribute
}

// modify changes the attribute at this place, where there is one.
func (s *screen) modify(r *reader) {
	c := &s.cells[s.at]
	if attribute := r.pairs(c.code); c.begins {
		c.code = attribute
	}
	s.at = (s.at + 1) % cells
}

// repeat fills up to a place; the same place stands for everything.
func (s *screen) repeat(r *reader) error {
	to, err := r.addressOr(s.at)
	if err != nil {
		return err
	}
	c := cell{code: r.byte()}
	if c.code == 0x08 {
		c = cell{code: r.byte(), graphic: true}
	}
	if r.cut {
		return nil
	}
	for s.put(c); s.at != to; {
		s.put(c)
	}
	return nil
}
