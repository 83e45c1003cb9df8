package http1

import (
	"bytes"
	"strconv"
)

// OriginalPrefix is the prefix that [DecodedHead] adds to the names of header
// fields that describe the received body.
const OriginalPrefix = "X-Orig-"

// DecodedHead returns the head of a message whose body is stored without its
// transfer codings. The parameter head is the received head, and size is the
// number of bytes in the stored body. The fields Transfer-Encoding,
// Content-Length and Trailer, which describe the received body, are renamed
// with OriginalPrefix. The last field of the result is Content-Length.
func DecodedHead(head []byte, size int64) []byte {
	out := make([]byte, 0, len(head)+64)
	lineEnd := []byte("\r\n")
	started := false // the start line was copied
	for line := range bytes.Lines(head) {
		switch blank := storedRules.blank(line); {
		case !blank && !started:
			started = true
		case !blank && describesFraming(line):
			out = append(out, OriginalPrefix...)
		case blank && started:
			lineEnd = line
			continue
		}
		out = append(out, line...)
	}
	if len(out) > 0 && out[len(out)-1] != '\n' {
		out = append(out, lineEnd...)
	}
	out = AppendField(out, "Content-Length", strconv.FormatInt(size, 10))
	return append(out, lineEnd...)
}

// describesFraming reports whether line starts a header field that describes
// the received body, such as Content-Length. A line that begins with a blank
// continues a field.
func describesFraming(line []byte) bool {
	if isBlank(line[0]) {
		return false
	}
	name, _, _ := bytes.Cut(line, []byte(":"))
	name = bytes.TrimSpace(name)
	for _, field := range [...]string{"Transfer-Encoding", "Content-Length", "Trailer"} {
		if bytes.EqualFold(name, []byte(field)) {
			return true
		}
	}
	return false
}
