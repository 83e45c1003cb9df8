package z3950_test

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/anyurl/fetch/internal/test/waistest"
	"github.com/anyurl/fetch/internal/wire/z3950"
)

// FuzzWAISPDU: a PDU that is decoded, encoded and decoded again is equal, and a
// Reader returns the same result as Decode.
func FuzzWAISPDU(f *testing.F) {
	for _, file := range waistest.Recordings(f) {
		for _, e := range waistest.Recorded(f, file) {
			for _, m := range [][]byte{e.Request, e.Answer} {
				if len(m) > z3950.HeaderSize && len(m) < 1000 {
					f.Add(m[z3950.HeaderSize:])
				}
			}
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := z3950.Decode(b)
		if err != nil {
			return
		}
		again, err := z3950.Decode(p.Append(nil))
		if err != nil || !reflect.DeepEqual(again, p) {
			t.Fatalf("%+v became %+v, %v", p, again, err)
		}
		got, err := next(z3950.NewReader(bytes.NewReader(z3950.AppendMessage(nil, z3950.Header{}, p))), p)
		if _, ok := p.(*z3950.SearchResponse); ok && (err != nil || !reflect.DeepEqual(got, p)) {
			t.Fatalf("a Reader reads %+v, %v, Decode %+v", got, err, p)
		}
	})
}

// FuzzWAISWriter: every request is encoded as one message with exactly its
// content.
func FuzzWAISWriter(f *testing.F) {
	f.Add("notes", []byte("whale"), []byte("\x02\x05notes"), []byte("TEXT"), byte(1), int64(0), int64(600))
	f.Add("a\x1fb", []byte("c\x00"), []byte{}, bytes.Repeat([]byte{'x'}, 200), byte(2), int64(1), int64(2))
	f.Fuzz(func(t *testing.T, database string, words, id, kind []byte, unit byte, start, end int64) {
		words, id, kind = bytes.Clone(words), bytes.Clone(id), bytes.Clone(kind)
		if words == nil || id == nil || kind == nil || len(database) > 60000 || start < 0 || end < 0 {
			return
		}
		r := z3950.Retrieval{Database: database, ID: id, Type: kind, Unit: 1 + z3950.Unit(unit%3), Start: start, End: end}
		q := z3950.Query{Words: words, Max: z3950.Some(uint32(end)), Like: []z3950.Like{{ID: id, Type: kind}, {ID: id, Type: kind, Chunk: z3950.Some(uint32(unit))}}}
		for _, p := range []*z3950.Search{r.Search(), z3950.NewQuery(database, q)} {
			m := z3950.AppendMessage(nil, z3950.Header{}, p)
			reader := z3950.NewReader(bytes.NewReader(m))
			if h, err := reader.Next(); err != nil || h.Length != len(m)-z3950.HeaderSize {
				if len(m) > z3950.MaxMessage {
					return
				}
				t.Fatalf("header %+v, %v", h, err)
			}
			got, err := z3950.Decode(m[z3950.HeaderSize:])
			if err != nil || !reflect.DeepEqual(got, p) {
				t.Fatalf("%+v became %+v, %v", p, got, err)
			}
			if back, ok := got.(*z3950.Search).Retrieval(); ok && !reflect.DeepEqual(back, r) {
				t.Fatalf("%+v became %+v", r, back)
			}
		}
	})
}
