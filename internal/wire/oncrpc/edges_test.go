package oncrpc_test

import (
	"bufio"
	"errors"
	"strings"
	"testing"

	"github.com/anyurl/fetch/internal/wire/oncrpc"
)

// TestEdges decodes values at the limits of XDR and of records.
func TestEdges(t *testing.T) {
	for _, c := range []struct {
		name, in, want string // want is the decoded data, then the rest
		err            bool
	}{
		{"one byte and its padding", "\x00\x00\x00\x01a\x00\x00\x00rest", "a|rest", false},
		{"four bytes", "\x00\x00\x00\x04abcdrest", "abcd|rest", false},
		{"as long as the limit", "\x00\x00\x00\x05abcde\x00\x00\x00", "abcde|", false},
		{"longer than the limit", "\x00\x00\x00\x06abcdef\x00\x00", "", true},
		{"no padding", "\x00\x00\x00\x01a", "", true},
		{"padding that is cut", "\x00\x00\x00\x01a\x00\x00", "", true},
	} {
		d := oncrpc.NewDecoder([]byte(c.in))
		got := string(d.Opaque(5)) + "|" + string(d.Rest())
		if (d.Err() != nil) != c.err || !c.err && got != c.want {
			t.Errorf("%s: got %q, %v", c.name, got, d.Err())
		}
	}
	for in, want := range map[string]bool{"\x00\x00\x00\x00": false, "\x00\x00\x00\x01": true} {
		d := oncrpc.NewDecoder([]byte(in))
		if got := d.Bool(); got != want || d.Err() != nil {
			t.Errorf("%q: got %t, %v", in, got, d.Err())
		}
	}
	for _, in := range []string{"\x00\x00\x00\x02", "", "\x00\x00\x00"} {
		if d := oncrpc.NewDecoder([]byte(in)); d.Bool() || d.Err() == nil {
			t.Errorf("%q is accepted", in)
		}
	}
	if xid, err := oncrpc.XIDOf([]byte("\x00\x00\x00\x07\x00\x00\x00\x01")); xid != 7 || err != nil {
		t.Errorf("XID of a reply: %d, %v", xid, err)
	}
	if _, err := oncrpc.XIDOf([]byte("\x00\x00\x00\x07\x00\x00\x00\x00")); err == nil {
		t.Error("XID of a call")
	}
	record := "\x00\x00\x00\x04abcd\x80\x00\x00\x04efgh"
	if got, err := oncrpc.ReadRecord(bufio.NewReader(strings.NewReader(record)), nil, 8); string(got) != "abcdefgh" || err != nil {
		t.Errorf("record as long as the limit: %q, %v", got, err)
	}
	if _, err := oncrpc.ReadRecord(bufio.NewReader(strings.NewReader(record)), nil, 7); !errors.Is(err, oncrpc.ErrMalformed) {
		t.Errorf("record longer than the limit: %v", err)
	}
	call := oncrpc.Call{XID: 1}
	if got := call.Append([]byte("before"), nil); string(got[6:10]) != "\x80\x00\x00\x3c" {
		t.Errorf("length of a call after other bytes: %q", got[6:10])
	}
}
