package http

import (
	"slices"
	"strings"
)

// Old servers frame bodies in ways that net/http refuses but that can be read
// in one way only. What net/http is given of them is mended here: the head in
// mendHead, lines of chunks that end in a bare LF by the frame. What can be
// read in two ways is left as it is, and refused. After a response that was
// mended its connection is asked nothing more, so that whatever an odd framing
// hides never becomes the beginning of another response.

// mendHead returns the head of a response, from status line to blank line, as
// net/http takes it, and what is odd about it; "" is nothing.
func mendHead(head string) (mended, odd string) {
	var kept, codings []string
	long, sized := false, false
	for line := range strings.Lines(head) {
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		switch strings.ToLower(name) {
		case "transfer-encoding":
			if strings.HasPrefix(head, "HTTP/1.0 ") {
				return head, "" // which has none
			}
			for coding := range strings.SplitSeq(value, ",") {
				codings = append(codings, strings.ToLower(strings.Trim(coding, " \t")))
			}
			continue
		case "content-length":
			if endless(value) {
				long = true
				continue
			}
			sized = true
		}
		if line[0] == ' ' || line[0] == '\t' {
			return head, "" // may continue what was taken out
		}
		kept = append(kept, line)
	}
	plain := plainCodings(codings)
	switch {
	case len(plain) > 1, len(plain) == 1 && (plain[0] != "chunked" || sized), len(kept) == 0:
		return head, "" // unknown, or two ways to find the end
	case len(codings) != len(plain):
		odd = "transfer coding that is not chunked alone"
	case long && !sized:
		odd = oddLength
	default:
		return head, ""
	}
	if len(plain) == 1 {
		kept = slices.Insert(kept, len(kept)-1, "Transfer-Encoding: chunked\r\n")
	}
	return strings.Join(kept, ""), odd
}

const oddLength = "Content-Length of more than any object has: the body goes to the end"

// plainCodings drops what changes nothing: identity, and a coding named twice.
func plainCodings(list []string) []string {
	return slices.Compact(slices.DeleteFunc(slices.Clone(list), func(c string) bool { return c == "identity" }))
}

// endless reports whether a Content-Length is a number that no object can
// have: some servers say so of a length that they do not know.
func endless(value string) bool {
	_, ok := digits(value)
	return !ok && value != "" && strings.Trim(value, "0123456789") == ""
}
