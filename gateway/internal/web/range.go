package web

import (
	"strconv"
	"strings"

	"github.com/anyurl/fetch/fetch"
)

// ParseRange parses the value of a Range field with one range of bytes (RFC
// 9110, 14.2). The result ok is false for all other values, which a server may
// ignore.
func ParseRange(value string) (r fetch.Range, ok bool) {
	unit, text, _ := strings.Cut(value, "=")
	first, last, ok := strings.Cut(strings.TrimSpace(text), "-")
	if !ok || !strings.EqualFold(unit, "bytes") {
		return r, false
	}
	from, fromErr := strconv.ParseUint(first, 10, 62)
	to, toErr := strconv.ParseUint(last, 10, 62)
	switch {
	case first == "":
		return fetch.Range{First: -int64(to)}, toErr == nil && to > 0
	case last == "":
		return fetch.Range{First: int64(from)}, fromErr == nil
	}
	return fetch.Range{First: int64(from), End: int64(to) + 1}, fromErr == nil && toErr == nil && from <= to
}
