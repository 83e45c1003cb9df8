package main

import (
	"strconv"
	"strings"

	"github.com/anyurl/fetch/fetch"
)

// setRange sets the range or the ranges of -r in req. Only the Web has several
// ranges. The multipart answer of the server is then the body.
func setRange(req *fetch.Request, text string, web bool) (err error) {
	if web && strings.Contains(text, ",") {
		for part := range strings.SplitSeq(text, ",") {
			if _, err := parseRange(strings.TrimSpace(part)); err != nil {
				return err
			}
		}
		req.Header = append(req.Header, fetch.Field{Name: "Range", Value: "bytes=" + text})
		return nil
	}
	req.Range, err = parseRange(text)
	return err
}

// parseRange reads one range, with inclusive bounds as curl has them: 0-99,
// 100-, or -10 for the last ten.
func parseRange(text string) (fetch.Range, error) {
	bad := fetch.Usage.Errorf("range %q is not FIRST-LAST, FIRST- or -COUNT", text)
	first, last, _ := strings.Cut(text, "-") // 4 is 4-, as in curl
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
