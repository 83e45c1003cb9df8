package main

import (
	"strconv"
	"strings"

	"github.com/anyurl/fetch/fetch"
)

// parseRange reads what -r takes, with inclusive bounds as curl has them:
// 0-99, 100-, or -10 for the last ten.
func parseRange(text string) (fetch.Range, error) {
	bad := fetch.Usage.Errorf("range %q is not FIRST-LAST, FIRST- or -COUNT", text)
	if strings.Contains(text, ",") {
		return fetch.Range{}, fetch.Unsupported.Errorf("range %q: one range at a time", text)
	}
	first, last, ok := strings.Cut(text, "-")
	if !ok {
		return fetch.Range{}, bad
	}
	from, err := number(first)
	to, err2 := number(last)
	switch {
	case err != nil || err2 != nil || first == "" && last == "":
		return fetch.Range{}, bad
	case first == "" && to == 0:
		return fetch.Range{}, bad
	case first == "":
		return fetch.Range{First: -to}, nil
	case last == "":
		return fetch.Range{First: from}, nil
	case to < from:
		return fetch.Range{}, bad
	}
	return fetch.Range{First: from, End: to + 1}, nil
}

// number reads digits; an empty text is zero.
func number(text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(text, 10, 62)
	return int64(n), err
}
