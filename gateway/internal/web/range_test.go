package web

import (
	"testing"

	"github.com/anyurl/fetch/fetch"
)

// TestParseRange checks which values of Range are single ranges of bytes.
func TestParseRange(t *testing.T) {
	for value, want := range map[string]fetch.Range{
		"bytes=0-": {}, "bytes=5-": {First: 5}, "Bytes= 0-0 ": {End: 1}, "bytes=2-7": {First: 2, End: 8}, "bytes=-3": {First: -3},
	} {
		if got, ok := ParseRange(value); !ok || got != want {
			t.Errorf("%q: %v, %v", value, got, ok)
		}
	}
	for _, value := range []string{
		"", "bytes", "bytes=", "bytes=-", "bytes=-0", "bytes=5-2", "bytes=0-1,3-4", "lines=0-1", "bytes=+1-2", "bytes=--1",
		"bytes=1-x", "bytes=99999999999999999999-", "bytes=0-9223372036854775807",
	} {
		if got, ok := ParseRange(value); ok {
			t.Errorf("%q is accepted: %v", value, got)
		}
	}
}
