package http

import (
	"bytes"
	"math"
	"strconv"
	"strings"
)

// A frame follows the bytes of one HTTP/1 response and knows where it ends
// (RFC 9112 6.3), so that what a server sends beyond it never becomes the
// beginning of the next. It judges nothing: what it cannot follow it lets
// pass until the connection ends, and net/http refuses it.
type frame struct {
	state   frameState
	noBody  bool   // the request was HEAD
	head    []byte // all before the body, interim responses included
	start   int    // in head, of the response that it is in
	line    int    // in head, of the line that it is in
	left    int64  // of the body or chunk
	size    []byte // the line of a chunk size, or of a trailer
	trailer []byte // the fields behind the body

	odd    string // what had to be mended, or ""
	mended []byte // what net/http is given for head; nil: head itself

	// Of the last scan: how much of it was head, where the step under way
	// begins, and where a line ends that wants a CR before its LF.
	inHead, at int
	bare       []int
}

type frameState uint8

const (
	inHead    frameState = iota
	inLength             // a body of left bytes
	inSize               // the line that begins a chunk
	inChunk              // left bytes
	inEnd                // the line end after a chunk
	inTrailer            // the lines after the last chunk
	unbounded            // until the connection ends
	ended
)

// maxFrameHead is more than net/http takes; maxFrameLine more than it takes
// for the line of a chunk.
const (
	maxFrameHead = 2 * maxHead
	maxFrameLine = 8 << 10
)

// scan reads p, the next bytes, and returns how many of them belong to the
// response.
func (f *frame) scan(p []byte) int {
	f.inHead, f.bare = 0, f.bare[:0]
	n := 0
	for n < len(p) && f.state != ended {
		head := f.state == inHead
		f.at = n
		n += f.step(p[n:])
		if head {
			f.inHead = n
		}
	}
	return n
}

func (f *frame) step(p []byte) int {
	switch f.state {
	case inLength, inChunk:
		n := int(min(int64(len(p)), f.left))
		if f.left -= int64(n); f.left == 0 {
			f.state = map[frameState]frameState{inLength: ended, inChunk: inEnd}[f.state]
		}
		return n
	case inHead:
		return f.stepHead(p)
	case inSize, inEnd, inTrailer:
		return f.stepLine(p)
	}
	return len(p)
}

func (f *frame) stepHead(p []byte) int {
	n := bytes.IndexByte(p, '\n') + 1
	if n == 0 {
		n = len(p)
	}
	f.head = append(f.head, p[:n]...)
	switch {
	case len(f.head) > maxFrameHead, !isStatus(f.head[f.start:]):
		f.state = unbounded
	case p[n-1] == '\n':
		line := f.head[f.line:]
		f.line = len(f.head)
		if len(line) <= 2 && strings.Trim(string(line), "\r\n") == "" {
			f.endHead()
		}
	}
	return n
}

// isStatus reports whether head may begin with a status line.
func isStatus(head []byte) bool {
	const version = "HTTP/1."
	n := min(len(head), len(version))
	return string(head[:n]) == version[:n]
}

// endHead chooses the state for the body.
func (f *frame) endHead() {
	head, odd := mendHead(string(f.head[f.start:]))
	if odd != "" {
		f.odd, f.mended = odd, append(bytes.Clone(f.head[:f.start]), head...)
	}
	status, fields, _ := strings.Cut(head, "\n")
	version, rest, _ := strings.Cut(status, " ")
	code, err := strconv.Atoi(rest[:min(len(rest), 3)])
	f.start = len(f.head)
	switch {
	case err != nil || code == 101:
		f.state = unbounded
	case code < 200:
		f.state = inHead
	case f.noBody || code == 204 || code == 304:
		f.state = ended
	default:
		f.frameBody(fields, version != "HTTP/1.0")
	}
}

func (f *frame) frameBody(fields string, chunks bool) {
	f.state, f.left = unbounded, -1
	coded := false
	for line := range strings.SplitSeq(fields, "\n") {
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		switch strings.ToLower(name) {
		case "content-length":
			n, err := strconv.ParseUint(value, 10, 63)
			if err != nil || f.left >= 0 && f.left != int64(n) {
				return
			}
			f.left = int64(n)
		case "transfer-encoding":
			coded = chunks
			if coded && !strings.EqualFold(value, "chunked") {
				return
			}
		}
	}
	switch {
	case coded:
		f.state = inSize
	case f.left == 0:
		f.state = ended
	case f.left > 0:
		f.state = inLength
	}
}

// stepLine collects a line and acts on it.
func (f *frame) stepLine(p []byte) int {
	n := bytes.IndexByte(p, '\n') + 1
	if n == 0 {
		n = len(p)
	}
	f.size = append(f.size, p[:n]...)
	switch {
	case p[n-1] == '\n':
		if len(f.size) < 2 || f.size[len(f.size)-2] != '\r' {
			f.bare, f.odd = append(f.bare, f.at+n-1), "line of a chunk that ends in a bare LF"
		}
		f.endLine(strings.TrimRight(string(f.size), "\r\n"))
		f.size = f.size[:0]
	case len(f.size) > maxFrameLine:
		f.state = unbounded
	}
	return n
}

func (f *frame) endLine(line string) {
	switch f.state {
	case inEnd:
		if f.state = inSize; line != "" {
			f.state = unbounded
		}
		return
	case inTrailer:
		if f.trailer = append(f.trailer, f.size...); line == "" {
			f.state = ended
		} else if len(f.trailer) > maxFrameHead {
			f.state = unbounded
		}
		return
	}
	digits, _, _ := strings.Cut(line, ";")
	size, err := strconv.ParseUint(strings.TrimSpace(digits), 16, 64)
	switch {
	case err != nil || size > math.MaxInt64:
		f.state = unbounded
	case size == 0:
		f.state = inTrailer
	default:
		f.state, f.left = inChunk, int64(size)
	}
}

// given is p, which was scanned last, as net/http is to have it. The head is
// held back until it is whole.
func (f *frame) given(p []byte) []byte {
	head := f.head
	if f.mended != nil {
		head = f.mended
	}
	var out []byte
	from := 0
	if f.inHead > 0 && (f.mended != nil || len(head) > f.inHead) {
		out, from = append(out, head...), f.inHead
	} else if len(f.bare) == 0 {
		return p
	}
	for _, at := range f.bare {
		out = append(append(out, p[from:at]...), '\r')
		from = at
	}
	return append(out, p[from:]...)
}
