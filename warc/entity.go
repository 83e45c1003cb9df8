package warc

import (
	"bytes"
	"strings"
)

// maxHead bounds the head of an HTTP message in a block.
const maxHead = 1 << 20

// entity finds the payload in the block of an HTTP message: the entity, its
// transfer coding removed and its content coding kept (WARC 1.1 section 6.3,
// RFC 2616 section 7.2). It is pushed the block and hands out the payload, so
// that one pass digests both.
type entity struct {
	state entityState
	head  []byte // as far as it was read; whole, with its blank line, after atHead
	line  int    // start of the last line in head, then of a chunk's line
	left  int64  // bytes of this chunk
	first bool   // no chunk was read yet: what follows may not be chunked at all
	coded bool   // a transfer coding other than chunked was not removed

	interim int64 // bytes of interim answers before the head
}

type entityState uint8

const (
	atHead entityState = iota
	atBody             // all that follows is payload
	atSize             // the line that tells a chunk's size
	atChunk
	atChunkEnd
	atTrailer
	atEnd    // what follows is no payload
	noEntity // the block is no HTTP message, or its chunks are malformed
)

// next consumes a part of p, at least a byte, and returns how much, and what
// of the payload was found there.
func (e *entity) next(p []byte) (n int, payload []byte) {
	switch e.state {
	case atHead:
		return e.nextHead(p), nil
	case atBody:
		return len(p), p
	case atChunk:
		n = int(min(e.left, int64(len(p))))
		if e.left -= int64(n); e.left == 0 {
			e.state = atChunkEnd
		}
		return n, p[:n]
	case atSize, atChunkEnd, atTrailer:
		return e.nextLine(p)
	}
	return len(p), nil
}

func (e *entity) nextHead(p []byte) int {
	n := bytes.IndexByte(p, '\n') + 1
	if n == 0 {
		n = len(p)
	}
	if len(e.head)+n > maxHead {
		e.state = noEntity
		return n
	}
	e.head = append(e.head, p[:n]...)
	if e.head[len(e.head)-1] != '\n' {
		return n
	}
	blank := len(bytes.TrimRight(e.head[e.line:], "\r\n")) == 0
	e.line = len(e.head)
	if blank {
		e.body()
	}
	return n
}

// body decides from the head what follows it.
func (e *entity) body() {
	status, fields := parseHead(e.head)
	if status >= 100 && status < 200 && status != 101 {
		e.interim += int64(len(e.head)) // the answer follows
		e.head, e.line = e.head[:0], 0
		return
	}
	e.state = atBody
	codings := strings.Join(fields.Values("Transfer-Encoding"), ",")
	for coding := range strings.SplitSeq(strings.ToLower(codings), ",") {
		switch strings.TrimSpace(coding) {
		case "", "identity":
		case "chunked":
			e.state, e.first = atSize, true
		default:
			e.coded = true
		}
	}
	e.line = len(e.head)
}

// maxLine bounds the lines between chunks. They are gathered behind the head.
const maxLine = 8 << 10

func (e *entity) nextLine(p []byte) (n int, payload []byte) {
	n = bytes.IndexByte(p, '\n') + 1
	whole := n > 0
	if !whole {
		n = len(p)
	}
	e.head = append(e.head, p[:n]...)
	line := e.head[e.line:]
	if len(line) > maxLine {
		return n, e.malformed(line)
	}
	if !whole {
		return n, nil
	}
	e.head = e.head[:e.line]
	text := strings.TrimRight(string(line), "\r\n")
	switch e.state {
	case atTrailer:
		if text == "" {
			e.state = atEnd
		}
	case atChunkEnd:
		e.state = atSize
		if text != "" {
			return n, e.malformed(line)
		}
	case atSize:
		size, ok := chunkSize(text)
		if !ok {
			return n, e.malformed(line)
		}
		e.first, e.left = false, size
		e.state = atChunk
		if size == 0 {
			e.state = atTrailer
		}
	}
	return n, nil
}

// malformed makes of a body that is not chunked, against what its head says,
// one that is as it stands: proxies write such.
func (e *entity) malformed(line []byte) []byte {
	if e.first {
		e.state = atBody
		return line
	}
	e.state = noEntity
	return nil
}

// end returns what was held back of a body that turned out not to be chunked
// at all.
func (e *entity) end() []byte {
	if e.state == atSize && e.first && e.line < len(e.head) {
		return e.malformed(e.head[e.line:])
	}
	return nil
}

// known reports whether what was handed out is the payload.
func (e *entity) known() bool { return e.state != atHead && e.state != noEntity && !e.coded }

// chunkSize reads the line before a chunk (RFC 9112 section 7.1).
func chunkSize(line string) (size int64, ok bool) {
	line, _, _ = strings.Cut(line, ";")
	line = strings.TrimRight(line, " \t")
	if line == "" || len(line) > 15 {
		return 0, false
	}
	for _, c := range []byte(line) {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, false
		}
		size = size<<4 | int64(c)
	}
	return size, true
}
