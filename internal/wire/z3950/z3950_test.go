package z3950_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/anyurl/fetch/internal/wire/z3950"
)

// TestRequests checks the bytes of one example of every request.
func TestRequests(t *testing.T) {
	id := []byte("\x02\x05notes\x07\x01\x00")
	for _, c := range []struct {
		name string
		p    z3950.PDU
		want string
	}{
		{"Init", z3950.NewInit("fetch", 100000), "\x00\x18\x14\x03\x01\x80\x04\x01\x80\x05\x03\x01\x86\xa0\x06\x03\x01\x86\xa0\x07\x05fetch"},
		{"Search", z3950.NewQuery("notes", z3950.Query{Words: []byte("whale"), DateFactor: z3950.Some(1), Max: z3950.Some(40)}),
			"\x00\x17\x16\x00\x00\x1e\x00\x13\x88\x00\x00\x1e\x01\x11\x00\x12\x05notes\x14\x013c\x0dj\x05whaleo\x01\x01r\x01\x28"},
		{"Search like a document and a chunk of one", z3950.NewQuery("n", z3950.Query{Words: []byte{}, Like: []z3950.Like{
			{ID: id, Type: []byte("TEXT")},
			{ID: id, Type: []byte("TEXT"), Chunk: z3950.Some(2), Start: []byte{1}, End: []byte{2}}}}),
			"\x00\x13\x16\x00\x00\x1e\x00\x13\x88\x00\x00\x1e\x01\x11\x00\x12\x01n\x14\x013c\x31j\x00" +
				"t\x0a\x02\x05notes\x07\x01\x00\x81\x05\x04TEXTk\x0a\x02\x05notes\x07\x01\x00\x81\x05\x04TEXTd\x01\x02l\x01\x01m\x01\x02"},
		{"retrieval by lines", z3950.Retrieval{Database: "n", ID: id, Type: []byte("T"), Unit: z3950.Lines, Start: 7, End: 1 << 40}.Search(),
			"\x00\x2a\x16\x00\x00\x0a\x00\x00\x10\x00\x00\x0f\x01\x11\x03FOO\x12\x01n\x14\x011\x13\x0f \x1fDocument Text\x02\x013" +
				"\x15\x76,\x11un re ig ig ig ig-\x0a\x02\x05notes\x07\x01\x00" +
				",\x11wt re ig ig ig ig-\x01T.\x01a,\x11wl ro ig ig ig ig-\x017.\x01a,\x11wl rl ig ig ig ig-\x0d1099511627776.\x01a"},
	} {
		if got := c.p.Append(nil); string(got) != c.want {
			t.Errorf("%s:\ngot  %q\nwant %q", c.name, got, c.want)
		}
		again, err := z3950.Decode([]byte(c.want))
		if err != nil || !reflect.DeepEqual(again, c.p) {
			t.Errorf("%s: read again: %+v, %v", c.name, again, err)
		}
	}
}

func TestRetrieval(t *testing.T) {
	r := z3950.Retrieval{Database: "n", ID: []byte("i"), Type: []byte("T"), Unit: z3950.Bytes, Start: 1, End: 2}
	if got, ok := r.Search().Retrieval(); !ok || !reflect.DeepEqual(got, r) {
		t.Errorf("got %+v, %v", got, ok)
	}
	for name, spoil := range map[string]func(p *z3950.Search){
		"of another type":  func(p *z3950.Search) { p.Type = []byte(z3950.WAISQuery) },
		"without id":       func(p *z3950.Search) { p.Terms = p.Terms[1:] },
		"without type":     func(p *z3950.Search) { p.Terms = append(p.Terms[:1:1], p.Terms[3:]...) },
		"without bounds":   func(p *z3950.Search) { p.Terms = p.Terms[:3] },
		"without its end":  func(p *z3950.Search) { p.Terms = p.Terms[:5] },
		"no number":        func(p *z3950.Search) { p.Terms[3].Value = []byte("1x") },
		"negative number":  func(p *z3950.Search) { p.Terms[3].Value = []byte("-1") },
		"short attributes": func(p *z3950.Search) { p.Terms[0].Attributes = []byte("un") },
	} {
		p := r.Search()
		if spoil(p); true {
			if got, ok := p.Retrieval(); ok {
				t.Errorf("%s: got %+v", name, got)
			}
		}
	}
}

// TestIntegers checks compressed integers, as lengths and as tags.
func TestIntegers(t *testing.T) {
	for v, want := range map[uint32]string{
		0: "\x00", 99: "\x63", 127: "\x7f", 128: "\x81\x00", 150: "\x81\x16", 256: "\x82\x00", 1000: "\x87\x68",
		10000: "\xce\x10", 16384: "\x81\x80\x00", 100000: "\x86\x8d\x20", 1<<32 - 1: "\x8f\xff\xff\xff\x7f",
	} {
		id := z3950.DocumentID{{Tag: v, Value: []byte{}}}
		if got := string(id.Append(nil)); got != want+"\x00" {
			t.Errorf("%d is written %q, want %q", v, got, want)
		}
		for _, padding := range []string{"", "\x80", "\x80\x80\x80"} {
			if got, err := z3950.ParseDocumentID([]byte(padding + want + "\x00")); err != nil || !reflect.DeepEqual(got, id) {
				t.Errorf("%d behind %q is read %v, %v", v, padding, got, err)
			}
		}
	}
	for name, b := range map[string]string{
		"too large": "\x90\x80\x80\x80\x00\x00", "padded for ever": strings.Repeat("\x80", 8) + "\x01\x00", "cut": "\x81", "only zeros": strings.Repeat("\x80", 100),
		"value is cut": "\x01\x02a", "length is cut": "\x01", "4 GiB": "\x01\x8f\xff\xff\xff\x7fa", "too many": strings.Repeat("\x01\x00", 65),
	} {
		if id, err := z3950.ParseDocumentID([]byte(b)); !errors.Is(err, z3950.ErrMalformed) {
			t.Errorf("%s: got %v, %v", name, id, err)
		}
	}
}

func TestHeader(t *testing.T) {
	for text, want := range map[string]string{
		"0000000040z2wais      " + "  0": "40 z",
		"0000000000Z1whatever I  0":      "0 z",
		"0000000000n2wais      " + "  0": "0 n",
		"0016777216z2wais      " + "  0": "16777216 z",
		"0016777217z2wais      " + "  0": "malformed message: message of 16777217 bytes, larger than 16777216",
		"4294967296z2wais      " + "  0": "malformed message: message of 4294967296 bytes, larger than 16777216",
		"9999999999z2wais      " + "  0": "malformed message: message of 9999999999 bytes, larger than 16777216",
		"-000000001z2wais      " + "  0": "malformed message: length of a message is no number",
		"        40z2wais      " + "  0": "malformed message: length of a message is no number",
		"0000000040x2wais      " + "  0": "malformed message: message of type 'x'",
		"0000000040z3wais      " + "  0": "malformed message: message of version '3'",
		"0000000040z2wais      " + "u 0": `malformed message: message is compressed or encoded: "u "`,
		"0000000040z2wais      " + " H0": `malformed message: message is compressed or encoded: " H"`,
		"HTTP/1.1 400 Bad Request\n":     "malformed message: length of a message is no number",
		"0000000040z2wais":               "malformed message: header of 16 bytes",
	} {
		h, err := z3950.ParseHeader([]byte(text))
		got := fmt.Sprintf("%d %c", h.Length, h.Type)
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
	if got := z3950.AppendMessage(nil, z3950.Header{}, nil); string(got) != "0000000000z2wais        0" {
		t.Errorf("usual header is %q", got)
	}
}

// response returns a SearchResponse with the given user information.
func response(user string) string {
	return "\x00\x0e\x17\x01\x00\x00\x00\x00\x00\x01\x00\x00\x00\x1b\x01\x00" + user
}

// TestMalformed decodes wrong lengths and misplaced elements.
func TestMalformed(t *testing.T) {
	for name, b := range map[string]string{
		"empty":                                   "",
		"header longer than the PDU":              "\x00\x05\x14",
		"header without type":                     "\x00\x00\x14",
		"header of 64 KiB":                        "\xff\xff\x17",
		"unknown type":                            "\x00\x01\x18",
		"Init with user information":              "\x00\x01\x14c\x00",
		"Init whose number is empty":              "\x00\x03\x14\x05\x00",
		"Init whose number is too long":           "\x00\x08\x14\x05\x05\x00\x00\x00\x00\x01",
		"Init whose element is cut":               "\x00\x03\x14\x03\x09",
		"InitResponse without result":             "\x00\x01\x15",
		"InitResponse with another tag":           "\x00\x02\x15\x01\x15\x00",
		"InitResponse with more behind":           "\x00\x02\x15\x01c\x00c\x00",
		"Search too short":                        "\x00\x05\x16\x00\x00\x1e\x00",
		"Search with the other user information":  "\x00\x0e\x16\x00\x00\x1e\x00\x13\x88\x00\x00\x1e\x01\x14\x013\x15\x00",
		"Search whose terms do not alternate":     "\x00\x0e\x16\x00\x00\x1e\x00\x13\x88\x00\x00\x1e\x01\x14\x011\x15\x03-\x01x",
		"Search whose last term is missing":       "\x00\x0e\x16\x00\x00\x1e\x00\x13\x88\x00\x00\x1e\x01\x14\x011\x15\x03,\x01x",
		"Search with a stranger among the terms":  "\x00\x0e\x16\x00\x00\x1e\x00\x13\x88\x00\x00\x1e\x01\x14\x011\x15\x03j\x01x",
		"Search with the chunk of no document":    "\x00\x0e\x16\x00\x00\x1e\x00\x13\x88\x00\x00\x1e\x01\x14\x013c\x03l\x01\x01",
		"Search with the chunk of a whole":        "\x00\x0e\x16\x00\x00\x1e\x00\x13\x88\x00\x00\x1e\x01\x14\x013c\x05t\x00l\x01\x01",
		"Search like too many":                    "\x00\x0e\x16\x00\x00\x1e\x00\x13\x88\x00\x00\x1e\x01\x14\x013c\x81\x4a" + strings.Repeat("t\x00", 101),
		"SearchResponse too short":                "\x00\x09\x17\x01\x00\x00\x00\x00\x00\x01\x00",
		"user information longer than it is":      response("c\x05\x81\x16\x00"),
		"user information shorter than it is":     response("c\x02\x81\x16\x00"),
		"user information of 4 GiB":               response("c\x8f\xff\xff\xff\x7f\x81\x16\x00"),
		"user information with another tag":       response("\x15\x00"),
		"user information that is cut":            response("c"),
		"record longer than the user information": response("c\x03\x81\x16\x05"),
		"record of 4 GiB":                         response("c\x07\x81\x16\x8f\xff\xff\xff\x7f"),
		"record whose tag is cut":                 response("c\x01\x81"),
		"element longer than its record":          response("c\x06\x81\x16\x03t\x05x"),
		"number that is too long":                 response("c\x0a\x81\x16\x07v\x051234\x05"),
		"types that are cut":                      response("c\x08\x81\x16\x05\x81\x04\x02\x81\x05"),
		"too many types":                          response("c\x82\x74\x81\x16\x82\x70\x81\x04\x82\x6d" + strings.Repeat("\x81\x05\x00", 101) + "\x00\x00\x00\x00\x00\x00"),
		"diagnostic longer than it is":            response("c\x08\x1c\x00\x05S1ab\x00"),
		"diagnostic shorter than it is":           response("c\x09\x1c\x00\x04S1ab\x00\x1d"),
		"diagnostic without code":                 response("c\x06\x1c\x00\x02S1\x1d"),
		"diagnostic of one byte":                  response("c\x01\x1c"),
		"diagnostic of 64 KiB":                    response("c\x04\x1c\xff\xff\x1d"),
	} {
		p, err := z3950.Decode([]byte(b))
		if !errors.Is(err, z3950.ErrMalformed) && !errors.Is(err, io.ErrUnexpectedEOF) || p != nil {
			t.Errorf("%s: got %+v, %v", name, p, err)
		}
	}
}

// TestTolerated decodes unambiguous deviations from the form of freeWAIS.
func TestTolerated(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"no user information":                         {response(""), response("c\x00")},
		"elements in another order":                   {response("c\x09\x81\x16\x06u\x01\x01t\x01i"), response("c\x09\x81\x16\x06t\x01iu\x01\x01")},
		"record that nobody knows":                    {response("c\x07\x81\x77\x01xs\x01w"), response("c\x03s\x01w")},
		"element that nobody knows":                   {response("c\x09\x81\x16\x06\x81\x77\x00t\x01i"), response("c\x06\x81\x16\x03t\x01i")},
		"element of one that nobody knows of an Init": {"\x00\x07\x14\x81\x77\x00\x03\x01\x80", "\x00\x04\x14\x03\x01\x80"},
		"the last of two counts":                      {"\x00\x07\x14\x03\x01\x40\x03\x01\x80", "\x00\x04\x14\x03\x01\x80"},
	} {
		p, err := z3950.Decode([]byte(c.in))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if got := string(p.Append(nil)); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// TestReaderErrors reads truncated and overlong conversations.
func TestReaderErrors(t *testing.T) {
	whole := string(z3950.AppendMessage(nil, z3950.Header{}, &z3950.SearchResponse{Records: []z3950.Record{{Kind: z3950.Text, Text: []byte("text")}}}))
	for at := range len(whole) {
		_, err := next(z3950.NewReader(strings.NewReader(whole[:at])), &z3950.SearchResponse{})
		if want := io.ErrUnexpectedEOF; at == 0 && err != io.EOF || at > 0 && err != want {
			t.Errorf("cut at %d: got %v", at, err)
		}
	}
	r := z3950.NewReader(strings.NewReader(whole + whole))
	if _, err := next(r, &z3950.SearchResponse{}); err != nil || r.Buffered() != len(whole) {
		t.Errorf("first of two: %v, %d bytes ahead", err, r.Buffered())
	}
	r = z3950.NewReader(strings.NewReader(whole))
	r.Next()
	if _, err := r.Next(); !errors.Is(err, z3950.ErrMalformed) {
		t.Errorf("message not read to its end: %v", err)
	}
	r = z3950.NewReader(bytes.NewReader(z3950.AppendMessage(nil, z3950.Header{}, &z3950.InitResponse{})))
	if _, err := next(r, &z3950.SearchResponse{}); !errors.Is(err, z3950.ErrMalformed) {
		t.Errorf("InitResponse for a SearchResponse: %v", err)
	}
	// A message of length zero without further bytes.
	lies := strings.Replace(string(z3950.AppendMessage(nil, z3950.Header{}, &z3950.SearchResponse{})), "c\x00", "c\x010", 1)
	r = z3950.NewReader(io.MultiReader(strings.NewReader(strings.Replace(lies, "15z", "16z", 1)), never{t}))
	if _, err := next(r, &z3950.SearchResponse{}); !errors.Is(err, z3950.ErrMalformed) {
		t.Errorf("length that is missing: %v", err)
	}
	// A complete record of more than MaxRecord bytes.
	r = z3950.NewReader(io.MultiReader(strings.NewReader("0008000025z2wais        0"+response("c\x83\xf4\xa4\x03\x81\x19\x83\xf4\x92\x00")), zeros{}))
	if _, err := next(r, &z3950.SearchResponse{}); !errors.Is(err, z3950.ErrMalformed) {
		t.Errorf("record of 8 MB: %v", err)
	}
}

// never is a reader that must not be read.
type never struct{ t *testing.T }

func (n never) Read([]byte) (int, error) {
	n.t.Error("read beyond the message")
	return 0, io.EOF
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }
