package ber_test

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"math"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/anyurl/fetch/internal/wire/ber"
)

func TestEncode(t *testing.T) {
	for _, c := range []struct {
		name, want string
		got        []byte
	}{
		{"boolean", "\x96\x01\xff", ber.Truth(22, true)},
		{"tag of two bytes", "\x9f\x6e\x0281", ber.String(110, "81")},
		{"tag of three bytes", "\x9f\x81\x53\x01\x00", ber.Number(211, 0)},
		{"negative number", "\x83\x02\xff\x7f", ber.Number(3, -129)},
		{"largest number", "\x83\x08\x7f\xff\xff\xff\xff\xff\xff\xff", ber.Number(3, math.MaxInt64)},
		{"smallest number", "\x83\x08\x80\x00\x00\x00\x00\x00\x00\x00", ber.Number(3, math.MinInt64)},
		{"long value", "\x81\x81\x80" + strings.Repeat("x", 128), ber.String(1, strings.Repeat("x", 128))},
		{"object identifier", "\x06\x07\x2a\x86\x48\xce\x13\x05\x0a", ber.Primitive(ber.Universal, ber.OID, ber.OIDValue("1.2.840.10003.5.10"))},
		{"sequence in a group", "\xa1\x05\x30\x03\x81\x01\x07", ber.Group(1, ber.SequenceOf(ber.Number(1, 7)))},
	} {
		if string(c.got) != c.want {
			t.Errorf("%s: got %q, want %q", c.name, c.got, c.want)
		}
	}
}

func TestValues(t *testing.T) {
	e := ber.Element{Value: []byte{0xff, 0x7f}}
	if n, err := e.Int(); n != -129 || err != nil {
		t.Errorf("got %d, %v", n, err)
	}
	e.Value = ber.OIDValue("1.2.840.10003.5.109.10")
	if s, err := e.OID(); s != "1.2.840.10003.5.109.10" || err != nil {
		t.Errorf("got %q, %v", s, err)
	}
	joined, _, err := ber.Cut([]byte("\x24\x80\x04\x01a\x24\x04\x04\x02bc\x00\x00"))
	if s, err2 := joined.Bytes(); string(s) != "abc" || err != nil || err2 != nil {
		t.Errorf("got %q, %v, %v", s, err, err2)
	}
	bits := ber.Element{Value: []byte{1, 0xC0, 0x02}}
	if !bits.Bit(0) || !bits.Bit(14) || bits.Bit(2) || bits.Bit(999) {
		t.Error("wrong bits")
	}
}

// TestMalformed reads elements that are invalid or larger than the limit.
func TestMalformed(t *testing.T) {
	for name, s := range map[string]string{
		"larger than the limit":                "\x30\x82\x10\x00",
		"indefinite and larger than the limit": "\x30\x80" + strings.Repeat("\x04\x7f"+strings.Repeat("x", 127), 20),
		"length that does not fit":             "\x30\x88\xff\xff\xff\xff\xff\xff\xff\xff",
		"reserved length":                      "\x30\xff",
		"indefinite primitive":                 "\x04\x80",
		"tag that does not fit":                "\x3f\xff\xff\xff\xff\x7f\x00",
		"tag with leading zeros":               "\x3f\x80\x01\x00",
		"nested without end":                   strings.Repeat("\x30\x80", 100),
	} {
		_, err := ber.Read(bufio.NewReader(strings.NewReader(s+strings.Repeat("\x00", 100))), nil, 1000)
		if !errors.Is(err, ber.ErrMalformed) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if _, err := ber.Read(bufio.NewReader(strings.NewReader("")), nil, 1000); err != io.EOF {
		t.Errorf("no element: got %v", err)
	}
	whole := "\x30\x80\x04\x02ab\x30\x03\x02\x01\x05\x00\x00"
	for n := 1; n < len(whole); n++ {
		if _, err := ber.Read(bufio.NewReader(strings.NewReader(whole[:n])), nil, 1000); err != io.ErrUnexpectedEOF {
			t.Errorf("cut at %d: got %v", n, err)
		}
	}
}

// FuzzBER: Read returns the bytes of the element that Cut finds, and an element
// that is encoded again has the same value.
func FuzzBER(f *testing.F) {
	f.Add([]byte("\x30\x80\x04\x02ab\x30\x03\x02\x01\x05\x00\x00rest"))
	f.Add([]byte("\xbf\x81\x53\x03\x80\x01\x00"))
	f.Add([]byte("\x24\x80\x04\x01a\x24\x04\x04\x02bc\x00\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		read, err := ber.Read(bufio.NewReader(iotest.OneByteReader(bytes.NewReader(b))), nil, len(b)+1)
		e, rest, cutErr := ber.Cut(b)
		if (err == nil) != (cutErr == nil) {
			t.Fatalf("Read %v, Cut %v", err, cutErr)
		}
		if err != nil {
			return
		}
		if want := b[:len(b)-len(rest)]; !bytes.Equal(read, want) {
			t.Fatalf("read %q, want %q", read, want)
		}
		e.Bytes()
		e.OID()
		if all, err := e.Children(100); err == nil && e.Class == ber.Context {
			var parts [][]byte
			for _, c := range all {
				if c.Class == ber.Context && !c.Constructed {
					parts = append(parts, ber.Primitive(c.Class, c.Tag, c.Value))
				}
			}
			again, _, err := ber.Cut(ber.Group(e.Tag, parts...))
			if err != nil || again.Tag != e.Tag {
				t.Fatalf("%v became %v, %v", e, again, err)
			}
			if len(parts) == len(all) {
				if got, err := again.Children(100); err != nil || !reflect.DeepEqual(got, all) {
					t.Fatalf("%v became %v, %v", all, got, err)
				}
			}
		}
	})
}
