package ardp_test

import (
	"bytes"
	"errors"
	"reflect"
	"testing"

	"github.com/anyurl/fetch/internal/test/prospertest"
	"github.com/anyurl/fetch/internal/wire/prospero/ardp"
)

// TestRecorded parses each recorded datagram and encodes it to the same bytes.
func TestRecorded(t *testing.T) {
	n := 0
	for _, file := range prospertest.Recordings(t) {
		for i, d := range prospertest.Recorded(t, file) {
			n++
			p, err := ardp.Parse(d.Bytes)
			if again := p.Append(nil); err != nil || !bytes.Equal(again, d.Bytes) {
				t.Errorf("%s: datagram %d: %+v, %v, written as\n%.60q, was\n%.60q", file, i, p, err, again, d.Bytes)
			}
		}
	}
	if n < 130 {
		t.Errorf("only %d datagrams", n)
	}
}

func TestParse(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     ardp.Packet
	}{
		{"one octet", "\x01x", ardp.Packet{Size: 1, Number: 1, Total: 1}},
		{"two octets: no whole id", "\x02\x41x", ardp.Packet{Size: 2, Number: 1, Total: 1}},
		{"id", "\x03\x41\x02x", ardp.Packet{Size: 3, ID: 0x4102, Number: 1, Total: 1}},
		{"number: the total is not known", "\x05\x41\x02\x00\x01x", ardp.Packet{Size: 5, ID: 0x4102, Number: 1}},
		{"total", "\x07\x41\x02\x00\x03\x00\x03x", ardp.Packet{Size: 7, ID: 0x4102, Number: 3, Total: 3}},
		{"acknowledgement", "\x09\x41\x02\x00\x00\x00\x00\x00\x10x", ardp.Packet{Size: 9, ID: 0x4102, Received: 16}},
		{"wait", "\x0b\x41\x02\x00\x00\x00\x00\x00\x00\x00\x1ex", ardp.Packet{Size: 11, ID: 0x4102, HasWait: true, Wait: 30}},
		{"please acknowledge", "\x0c\x41\x02\x00\x10\x00\x00\x00\x01\x00\x00\x80x", ardp.Packet{Size: 12, ID: 0x4102, Number: 16, Received: 1, HasWait: true, Ack: true}},
		{"control packet that is counted", "\x0c\x41\x02\x00\x10\x00\x00\x00\x01\x00\x00\x40x", ardp.Packet{Size: 12, ID: 0x4102, Number: 16, Received: 1, HasWait: true, Control: true}},
		{"refused", "\x0d\x41\x02\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01x", ardp.Packet{Size: 13, ID: 0x4102, HasWait: true, Option: ardp.Refused, Args: []byte{}}},
		{"redirect", "\x13\x41\x02\x00\x00\x00\x00\x00\x00\x00\x00\x00\x04\xc0\x00\x02\x01\x05\xf5x",
			ardp.Packet{Size: 13, ID: 0x4102, HasWait: true, Option: ardp.Redirect, Args: []byte("\xc0\x00\x02\x01\x05\xf5")}},
		{"redirect behind priority and window", "\x17\x41\x02\x00\x00\x00\x00\x00\x00\x00\x00\x0a\x04\x00\x01\x00\x10\xc0\x00\x02\x01\x05\xf5x",
			ardp.Packet{Size: 13, ID: 0x4102, HasWait: true, Option: ardp.Redirect, Args: []byte("\xc0\x00\x02\x01\x05\xf5")}},
		{"option behind an address: its argument is lost", "\x13\x41\x02\x00\x00\x00\x00\x00\x00\x00\x00\x01\x04\xc0\x00\x02\x01\x05\xf5x",
			ardp.Packet{Size: 13, ID: 0x4102, HasWait: true, Option: ardp.Redirect}},
		{"version 1", "\x81\x00\x00\x00\x0b\x41\x02\x00\x02\x00\x01x", ardp.Packet{Version: 1, ID: 0x4102, Number: 2, Received: 1}},
		{"version 1, the shortest", "\x81\x00\x00\x00\x05x", ardp.Packet{Version: 1, Number: 1}},
		{"version 1 with everything", "\x81\x00\x7f\xfe\x18\x41\x02\x00\x02\x00\x01\x00\x09\x00\x00\x00\x00\x00\x10\x00\x1e\x01\x00\x05x",
			ardp.Packet{Version: 1, ID: 0x4102, Number: 2, Received: 1, Total: 9, HasWait: true, Wait: 30, Ack: true, Control: true, Option: ardp.Queue, Args: []byte("\x01\x00\x05")}},
		{"version 1, more flags and no option", "\x81\x00\x80\x04\x0b\x41\x02\x00\x02\x00\x01x", ardp.Packet{Version: 1, ID: 0x4102, Number: 2, Received: 1}},
	} {
		c.want.Data = []byte("x")
		got, err := ardp.Parse([]byte(c.in))
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s:\ngot  %+v, %v\nwant %+v", c.name, got, err, c.want)
		}
	}
	for name, in := range map[string]string{
		"nothing": "", "header longer than the datagram": "\x09\x41\x02", "text": "VERSION 5\n", "32 octets": "\x20                                ",
		"another version": "\xc1\x00\x00\x00\x0b\x41\x02\x00\x02\x00\x01", "version 1, cut": "\x81\x00\x00\x00", "version 1, header too short": "\x81\x00\x00\x00\x04x",
		"version 1, header too long": "\x81\x00\x00\x00\x0cxxxxxx", "version 1, flag without argument": "\x81\x00\x04\x00\x0b\x41\x02\x00\x02\x00\x01",
		"version 1 with security": "\x81\x04\x00\x00\x0b\x41\x02\x00\x02\x00\x01",
	} {
		if p, err := ardp.Parse([]byte(in)); !errors.Is(err, ardp.ErrMalformed) {
			t.Errorf("%s: got %+v, %v", name, p, err)
		}
	}
	if _, err := ardp.Parse([]byte{0, 1}); err != ardp.ErrVersion {
		t.Errorf("a server of another version: %v", err)
	}
}

// FuzzProsperoPacket: a packet that is parsed, encoded and parsed again is
// equal, and its encoding is not longer.
func FuzzProsperoPacket(f *testing.F) {
	for _, file := range prospertest.Recordings(f) {
		for _, d := range prospertest.Recorded(f, file) {
			f.Add(d.Bytes[:min(len(d.Bytes), 200)])
		}
	}
	f.Add([]byte("\x17\x41\x02\x00\x00\x00\x00\x00\x00\x00\x00\x0a\x04\x00\x01\x00\x10\xc0\x00\x02\x01\x05\xf5x"))
	f.Add([]byte("\x81\x00\x7f\xfe\x18\x41\x02\x00\x02\x00\x01\x00\x09\x00\x00\x00\x00\x00\x10\x00\x1e\x01\x00\x05x"))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := ardp.Parse(b)
		if err != nil {
			return
		}
		written := p.Append(nil)
		again, err := ardp.Parse(written)
		if len(p.Args) == 0 && len(again.Args) == 0 {
			p.Args, again.Args = nil, nil
		}
		if err != nil || !reflect.DeepEqual(again, p) || p.Version == 0 && len(written) > len(b) {
			t.Fatalf("%+v became %+v, %v", p, again, err)
		}
	})
}
