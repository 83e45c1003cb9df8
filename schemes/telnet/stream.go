package telnet

import (
	"github.com/anyurl/fetch/fetch"
)

// A reader reads the bytes of a record of the 3270 data stream. After the end
// of the record it returns zeros and sets truncated.
type reader struct {
	text      []byte
	truncated bool
}

func (r *reader) hasMore() bool { return len(r.text) > 0 }

func (r *reader) byte() byte {
	if len(r.text) == 0 {
		r.truncated = true
		return 0
	}
	b := r.text[0]
	r.text = r.text[1:]
	return b
}

// address reads a buffer address of 12 or 14 bits (GA23-0059 section 4.1.3).
func (r *reader) address() (int, error) {
	high, low := r.byte(), r.byte()
	at := int(high&0x3f)<<6 | int(low&0x3f)
	if high&0xc0 == 0 {
		at = int(high)<<8 | int(low)
	}
	if at >= cells {
		return 0, fetch.Protocol.Errorf("buffer address %d is outside the screen of %d characters", at, cells)
	}
	return at, nil
}

// draw executes a record, which consists of a command and its data.
func (s *screen) draw(record []byte) error {
	r := &reader{text: record}
	if !r.hasMore() {
		return nil
	}
	if err := s.command(r); err != nil {
		return err
	}
	if r.truncated {
		return fetch.Protocol.Errorf("truncated order in the 3270 data stream")
	}
	return nil
}

// command executes a command of the 3270 data stream. It accepts the command
// codes of local and remote terminals (GA23-0059 section 3.2). Commands that
// read the screen are ignored, because there is no user input to return.
func (s *screen) command(r *reader) error {
	switch c := r.byte(); c {
	case 0xf1, 0x01: // Write
		s.addr = s.cursor
		return s.write(r)
	case 0xf5, 0x05, 0x7e, 0x0d: // Erase/Write and Erase/Write Alternate
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
		return fetch.Protocol.Errorf("unknown command %#02x in the 3270 data stream", c)
	}
}

// fields executes the structured fields that write to the screen, and skips
// other structured fields.
func (s *screen) fields(r *reader) error {
	for r.hasMore() {
		n := int(r.byte())<<8 | int(r.byte())
		if n == 0 {
			n = len(r.text) + 2
		}
		if n < 3 || n-2 > len(r.text) {
			return fetch.Protocol.Errorf("structured field of %d bytes, but %d bytes are left in the record", n, len(r.text)+2)
		}
		field := &reader{text: r.text[:n-2]}
		r.text = r.text[n-2:]
		if field.byte() != 0x40 { // Outbound 3270DS
			continue
		}
		field.byte() // partition ID, which is ignored
		if !field.hasMore() || field.text[0] == 0xf3 || field.text[0] == 0x11 {
			return fetch.Protocol.Errorf("structured field with a missing or nested command")
		}
		if err := s.draw(field.text); err != nil {
			return err
		}
	}
	return nil
}

// write executes a write command. The data of the command consists of a write
// control character, orders and text.
func (s *screen) write(r *reader) error {
	if !r.hasMore() {
		return nil // some hosts omit the write control character
	}
	if r.byte()&0x02 != 0 {
		s.locked = false
	}
	text := false // the previous order wrote text
	for r.hasMore() {
		afterText := text
		text = false
		var err error
		switch b := r.byte(); b {
		case 0x11: // Set Buffer Address
			s.addr, err = r.addressOr(s.addr)
		case 0x1d: // Start Field
			s.put(cell{code: r.byte(), isAttribute: true})
		case 0x29: // Start Field Extended
			s.put(cell{code: r.pairs(0), isAttribute: true})
		case 0x2c: // Modify Field
			s.modifyField(r)
		case 0x28: // Set Attribute, which is ignored
			r.byte()
			r.byte()
		case 0x13: // Insert Cursor
			s.cursor = s.addr
		case 0x05: // Program Tab
			s.tab(afterText)
		case 0x3c: // Repeat to Address
			err = s.repeatToAddress(r)
		case 0x12: // Erase Unprotected to Address
			var to int
			if to, err = r.addressOr(s.addr); err == nil {
				s.eraseUnprotected(s.addr, to)
				s.addr = to
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

// addressOr reads a buffer address. If the record is truncated, it returns a
// default address.
func (r *reader) addressOr(other int) (int, error) {
	if at, err := r.address(); !r.truncated {
		return at, err
	}
	return other, nil
}

// pairs reads a list of type-value pairs, which starts with the number of
// pairs. It returns the value of the pair for the field attribute, or attribute
// if the list has no such pair.
func (r *reader) pairs(attribute byte) byte {
	for n := r.byte(); n > 0 && !r.truncated; n-- {
		if kind, value := r.byte(), r.byte(); kind == 0xc0 {
			attribute = value
		}
	}
	return attribute
}

// modifyField executes a Modify Field order at the current buffer address. The
// order has no effect if the cell does not contain a field attribute.
func (s *screen) modifyField(r *reader) {
	c := &s.cells[s.addr]
	if attribute := r.pairs(c.code); c.isAttribute {
		c.code = attribute
	}
	s.addr = (s.addr + 1) % cells
}

// repeatToAddress executes a Repeat to Address order, which fills the screen
// with a character up to an address. If the address equals the current one, the
// order fills the complete screen.
func (s *screen) repeatToAddress(r *reader) error {
	to, err := r.addressOr(s.addr)
	if err != nil {
		return err
	}
	c := cell{code: r.byte()}
	if c.code == 0x08 {
		c = cell{code: r.byte(), graphic: true}
	}
	if r.truncated {
		return nil
	}
	for s.put(c); s.addr != to; {
		s.put(c)
	}
	return nil
}
