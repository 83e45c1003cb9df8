package main

import (
	"strconv"
	"strings"

	"github.com/anyurl/fetch/fetch"
)

// bytesFlag is a number of bytes as curl reads it: 500, 100k, 2M, 1G.
type bytesFlag int64

func (b *bytesFlag) String() string { return strconv.FormatInt(int64(*b), 10) }

func (b *bytesFlag) Set(text string) error {
	digits := strings.TrimRight(text, "bBkKmMgGtT")
	shift := 0
	switch strings.ToLower(text[len(digits):]) {
	case "", "b":
	case "k":
		shift = 10
	case "m":
		shift = 20
	case "g":
		shift = 30
	case "t":
		shift = 40
	default:
		return fetch.Usage.Errorf("not a number of bytes: %q", text)
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 0 || n > 1<<62>>shift {
		return fetch.Usage.Errorf("not a number of bytes: %q", text)
	}
	*b = bytesFlag(n << shift)
	return nil
}

func (*bytesFlag) Type() string { return "bytes" }
