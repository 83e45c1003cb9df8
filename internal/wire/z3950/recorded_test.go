package z3950_test

import (
	"bytes"
	"io"
	"reflect"
	"testing"
	"testing/iotest"

	"github.com/anyurl/fetch/internal/test/waistest"
	"github.com/anyurl/fetch/internal/wire/z3950"
)

// unknownPDU is the only recorded PDU that the package does not support.
const unknownPDU = "16-unknown-apdu.hex"

// TestRecorded decodes the messages of freeWAIS-sf and its client, and encodes
// them to the same bytes.
func TestRecorded(t *testing.T) {
	n := 0
	for _, file := range waistest.Recordings(t) {
		for _, e := range waistest.Recorded(t, file) {
			for _, message := range [][]byte{e.Request, e.Answer} {
				if len(message) == 0 { // the server crashed
					continue
				}
				n++
				h, err := z3950.ParseHeader(message[:z3950.HeaderSize])
				if err != nil || h.Length != len(message)-z3950.HeaderSize {
					t.Errorf("%s: %s: header %+v, %v", file, e.Title, h, err)
					continue
				}
				if h.Length == 0 {
					if again := z3950.AppendMessage(nil, h, nil); !bytes.Equal(again, message) {
						t.Errorf("%s: %s: empty message written as %q", file, e.Title, again)
					}
					continue
				}
				p, err := z3950.Decode(message[z3950.HeaderSize:])
				if err != nil {
					if file != unknownPDU || e.Title != "Present" {
						t.Errorf("%s: %s: %v", file, e.Title, err)
					}
					continue
				}
				if again := z3950.AppendMessage(nil, h, p); !bytes.Equal(again, message) {
					t.Errorf("%s: %s: written again:\n%q\nwas\n%q", file, e.Title, again, message)
				}
			}
		}
	}
	if n < 80 {
		t.Errorf("only %d messages", n)
	}
}

// TestReader: records that are read from a stream equal those decoded in
// memory.
func TestReader(t *testing.T) {
	for _, file := range waistest.Recordings(t) {
		var stream []byte
		var want []z3950.PDU
		for _, e := range waistest.Recorded(t, file) {
			if len(e.Answer) > z3950.HeaderSize {
				stream = append(stream, e.Answer...)
				p, err := z3950.Decode(e.Answer[z3950.HeaderSize:])
				if err != nil {
					t.Fatal(err)
				}
				want = append(want, p)
			}
		}
		// Reading single bytes checks that the result does not depend on chunk
		// sizes.
		for _, src := range []io.Reader{bytes.NewReader(stream), iotest.OneByteReader(bytes.NewReader(stream))} {
			r := z3950.NewReader(src)
			for i, want := range want {
				got, err := next(r, want)
				if err != nil || !reflect.DeepEqual(got, want) {
					t.Errorf("%s: answer %d: got %+v, %v, want %+v", file, i, got, err, want)
				}
			}
		}
	}
}

// next reads a response like a client that expects a message like want.
func next(r *z3950.Reader, want z3950.PDU) (z3950.PDU, error) {
	if _, err := r.Next(); err != nil {
		return nil, err
	}
	if _, ok := want.(*z3950.InitResponse); ok {
		return r.PDU()
	}
	p, err := r.Response()
	for err == nil {
		var rec z3950.Record
		if rec, err = r.Record(); err == nil {
			p.Records = append(p.Records, clone(rec))
		}
	}
	if err == io.EOF {
		err = nil
	}
	return p, err
}

// clone returns a copy of a record with its own memory.
func clone(rec z3950.Record) z3950.Record {
	p, err := z3950.Decode((&z3950.SearchResponse{Records: []z3950.Record{rec}}).Append(nil))
	if err != nil {
		return z3950.Record{}
	}
	return p.(*z3950.SearchResponse).Records[0]
}
