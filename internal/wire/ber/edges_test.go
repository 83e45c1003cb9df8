package ber_test

import (
	"strings"
	"testing"

	"github.com/anyurl/fetch/internal/wire/ber"
)

// TestEdges decodes the smallest and largest tags, lengths and values of each
// form, and those that just do not fit.
func TestEdges(t *testing.T) {
	long := strings.Repeat("\x24\x80", ber.MaxDepth) + "\x04\x01x" + strings.Repeat("\x00\x00", ber.MaxDepth)
	for _, c := range []struct {
		name, in string
		tag      uint32
		value    int    // length of the value
		rest     string // bytes after the element
		err      string // part of the error, or ""
	}{
		{"tag in two bytes", "\x1f\x1f\x01aR", 31, 1, "R", ""},
		{"tag in three bytes", "\x1f\x81\x00\x01aR", 128, 1, "R", ""},
		{"largest tag", "\x1f\xff\xff\xff\x7f\x00R", 1<<28 - 1, 0, "R", ""},
		{"tag of 29 bits", "\x1f\x81\x80\x80\x80\x00\x00", 0, 0, "", "tag does not fit"},
		{"tag without its end", "\x1f\x81", 0, 0, "", "element is cut"},
		{"no length", "\x1f\x1f", 0, 0, "", "element is cut"},
		{"longest short length", "\x04\x7f" + strings.Repeat("a", 127) + "R", 4, 127, "R", ""},
		{"long form of a short length", "\x04\x81\x02abR", 4, 2, "R", ""},
		{"length in eight bytes", "\x04\x88\x00\x00\x00\x00\x00\x00\x00\x02abR", 4, 2, "R", ""},
		{"length in nine bytes", "\x04\x89\x00\x00\x00\x00\x00\x00\x00\x00\x02abR", 0, 0, "", "invalid length"},
		{"indefinite length of a primitive element", "\x04\x80\x00\x00", 0, 0, "", "invalid length"},
		{"largest length", "\x04\x84\x7f\xff\xff\xff", 0, 0, "", "2147483647 bytes in 0"},
		{"length of 32 bits", "\x04\x84\x80\x00\x00\x00", 0, 0, "", "does not fit"},
		{"length without its end", "\x04\x82\x01", 0, 0, "", "element is cut"},
		{"one byte less than the length", "\x04\x02a", 0, 0, "", "2 bytes in 1"},
		{"indefinite length", "\x24\x80\x04\x01a\x00\x00R", 4, 3, "R", ""},
		{"indefinite length without its end", "\x24\x80\x04\x01a", 0, 0, "", "element is cut"},
		{"deepest element", long + "R", 4, len(long) - 4, "R", ""},
		{"element that is too deep", "\x24\x80" + long + "\x00\x00", 0, 0, "", "levels of elements"},
	} {
		e, rest, err := ber.Cut([]byte(c.in))
		switch {
		case c.err != "":
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: got %v, want %q", c.name, err, c.err)
			}
		case err != nil || e.Tag != c.tag || len(e.Value) != c.value || string(rest) != c.rest:
			t.Errorf("%s: tag %d, %d bytes, rest %q, %v", c.name, e.Tag, len(e.Value), rest, err)
		}
	}
}

// TestValueEdges decodes values at the limits of their types.
func TestValueEdges(t *testing.T) {
	if n, err := (ber.Element{Value: []byte("\x7f\xff\xff\xff\xff\xff\xff\xff")}).Int(); n != 1<<63-1 || err != nil {
		t.Errorf("largest integer: %d, %v", n, err)
	}
	if _, err := (ber.Element{Value: make([]byte, 9)}).Int(); err == nil {
		t.Error("integer of nine bytes")
	}
	for _, c := range []struct{ name, value, want string }{
		{"first part 0", "\x27", "0.39"},
		{"first part 1", "\x28", "1.0"},
		{"first part 2", "\x50", "2.0"},
		{"second part above 39", "\x88\x37", "2.999"},
		{"part of two bytes", "\x2a\x81\x00", "1.2.128"},
		{"largest part", "\x2a\xff\xff\xff\xff\xff\xff\xff\xff\x7f", "1.2.9223372036854775807"},
		{"part that does not fit", "\x2a\x81\xff\xff\xff\xff\xff\xff\xff\xff\x7f", ""},
		{"part of 57 bits and more bytes", "\x2a\x81\x80\x80\x80\x80\x80\x80\x80\x80\x00", ""},
		{"part without its end", "\x2a\x81", ""},
		{"longest", strings.Repeat("\x01", 64), "0" + strings.Repeat(".1", 64)},
		{"too long", strings.Repeat("\x01", 65), ""},
		{"empty", "", ""},
	} {
		got, err := (ber.Element{Value: []byte(c.value)}).OID()
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s: got %q, %v, want %q", c.name, got, err, c.want)
		}
	}
	bits := ber.Element{Value: []byte{0, 0x80, 0x01}}
	if !bits.Bit(0) || bits.Bit(1) || !bits.Bit(15) || bits.Bit(16) {
		t.Error("wrong bits")
	}
	list := ber.Element{Constructed: true, Value: []byte("\x05\x00\x05\x00")}
	if all, err := list.Children(2); len(all) != 2 || err != nil {
		t.Errorf("as many elements as allowed: %v, %v", all, err)
	}
	if _, err := list.Children(1); err == nil {
		t.Error("more elements than allowed")
	}
	if _, err := (ber.Element{Constructed: true, Value: []byte("\x05")}).Children(2); err == nil {
		t.Error("an element that is cut")
	}
}
