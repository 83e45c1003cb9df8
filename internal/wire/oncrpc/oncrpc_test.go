package oncrpc_test

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/anyurl/fetch/internal/wire/oncrpc"
)

func TestCall(t *testing.T) {
	c := oncrpc.Call{XID: 7, Program: 100003, Version: 3, Procedure: 1, UID: 1000, GID: 100}
	got := c.Append(nil, oncrpc.AppendOpaque(nil, "abcde"))
	want := "\x80\x00\x00\x48" + "\x00\x00\x00\x07\x00\x00\x00\x00\x00\x00\x00\x02\x00\x01\x86\xa3\x00\x00\x00\x03\x00\x00\x00\x01" +
		"\x00\x00\x00\x01\x00\x00\x00\x14\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x03\xe8\x00\x00\x00\x64\x00\x00\x00\x00" +
		"\x00\x00\x00\x00\x00\x00\x00\x00" + "\x00\x00\x00\x05abcde\x00\x00\x00"
	if string(got) != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestReadRecord(t *testing.T) {
	for name, c := range map[string]struct {
		in, want string
		err      error
	}{
		"one fragment":        {"\x80\x00\x00\x03abc", "abc", nil},
		"three fragments":     {"\x00\x00\x00\x01a\x00\x00\x00\x00\x80\x00\x00\x02bc", "abc", nil},
		"end":                 {"", "", io.EOF},
		"cut mark":            {"\x80\x00", "", io.ErrUnexpectedEOF},
		"cut fragment":        {"\x80\x00\x00\x03ab", "", io.ErrUnexpectedEOF},
		"missing fragment":    {"\x00\x00\x00\x01a", "", io.ErrUnexpectedEOF},
		"larger than allowed": {"\x80\x00\x00\x09abcdefghi", "", oncrpc.ErrMalformed},
		"larger in total":     {"\x00\x00\x00\x05abcde\x80\x00\x00\x04fghi", "", oncrpc.ErrMalformed},
		"endless":             {strings.Repeat("\x00\x00\x00\x00", 2000), "", oncrpc.ErrMalformed},
	} {
		got, err := oncrpc.ReadRecord(bufio.NewReader(strings.NewReader(c.in)), nil, 8)
		if string(got) != c.want || !errors.Is(err, c.err) {
			t.Errorf("%s: got %q, %v, want %q, %v", name, got, err, c.want, c.err)
		}
	}
}

func TestParseReply(t *testing.T) {
	for in, want := range map[string]string{
		"\x00\x00\x00\x01\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00rest": "rest",
		"\x00\x00\x00\x01\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01":     "server has no such program",
		"\x00\x00\x00\x01\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x04":     "server could not process the call (RPC status 4)",
		"\x00\x00\x00\x01\x00\x00\x00\x01\x00\x00\x00\x01\x00\x00\x00\x01\x00\x00\x00\x05":                     "server rejected the credential (RPC authentication error 5)",
		"\x00\x00\x00\x01\x00\x00\x00\x01\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x02":     "server does not support RPC version 2",
		"\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00":                                                     "malformed message: message of type 0",
		"\x00\x00\x00\x01\x00\x00\x00\x01\x00\x00\x00\x02":                                                     "malformed message: reply of status 2",
		"\x00\x00\x00\x01\x00\x00\x00\x01":                                                                     "malformed message: 4 bytes expected, 0 left",
		"\x00\x00\x00\x01\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff":                     "malformed message: 65535 bytes exceed the limit of 400",
	} {
		d, err := oncrpc.ParseReply([]byte(in))
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			got = string(d.Rest())
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

// FuzzReply: a record is read as one fragment or several, and its reply is
// decoded or rejected without reading beyond its end.
func FuzzReply(f *testing.F) {
	f.Add([]byte("\x80\x00\x00\x1c\x00\x00\x00\x01\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00rest"))
	f.Add([]byte("\x00\x00\x00\x01a\x80\x00\x00\x02bc"))
	f.Fuzz(func(t *testing.T, b []byte) {
		record, err := oncrpc.ReadRecord(bufio.NewReader(bytes.NewReader(b)), nil, 1<<10)
		if err != nil {
			return
		}
		if len(record) > 1<<10 {
			t.Fatalf("record of %d bytes", len(record))
		}
		oncrpc.XIDOf(record)
		d, err := oncrpc.ParseReply(record)
		if err != nil {
			return
		}
		before := len(d.Rest())
		for range 10 {
			d.Bool()
			d.Uint64()
			if got := d.Opaque(100); len(got) > 100 || len(got) > before {
				t.Fatalf("%d bytes", len(got))
			}
		}
	})
}
