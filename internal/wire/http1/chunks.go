package http1

import "bytes"

// Chunks decodes a body with the transfer coding chunked (RFC 9112 7.1). It
// does not read from a connection. The caller passes received bytes to
// [Chunks.Next].
type Chunks struct {
	Rules *Rules

	state    chunkState
	left     int64  // unread bytes of the current chunk
	line     []byte // start of an incomplete line, or a rejected line
	overhead int64  // bytes of chunk lines beyond the allowance per chunk
	sizeSeen bool   // at least one chunk size was read
	bareLF   bool   // a bare LF was reported
	trailer  []byte
	fields   int
}

type chunkState uint8

const (
	inSize    chunkState = iota // in the line with the chunk size
	inData                      // in the data of a chunk
	inDataEnd                   // at the line end after the data
	inTrailer
	inEnd
)

// Left returns the number of bytes of the current chunk that Next has not
// returned yet. It returns 0 between chunks.
func (c *Chunks) Left() int64 { return c.left }

// Done reports whether Next has consumed the complete body, including its
// trailer.
func (c *Chunks) Done() bool { return c.state == inEnd }

// Next decodes bytes from the start of p and returns the number of bytes
// consumed. A call either returns data of one chunk, or consumes lines with
// chunk sizes and trailer fields and returns no data. Next consumes at least
// one byte if p is not empty.
func (c *Chunks) Next(p []byte) (n int, data []byte, err error) {
	if c.state == inData {
		data = p[:min(int64(len(p)), c.left)]
		if c.left -= int64(len(data)); c.left == 0 {
			c.state = inDataEnd
		}
		return len(data), data, nil
	}
	for n < len(p) && c.state != inData && c.state != inEnd && err == nil {
		var used int
		used, err = c.nextLine(p[n:])
		n += used
	}
	return n, nil, err
}

// nextLine consumes the next line of a chunked body. If p contains no complete
// line, it consumes all of p.
func (c *Chunks) nextLine(p []byte) (n int, err error) {
	limit := maxChunkLine
	if c.state == inTrailer {
		limit = MaxTrailer - len(c.trailer)
	}
	n = bytes.IndexByte(p, '\n') + 1
	complete := n > 0
	if !complete {
		n = len(p)
	}
	n = min(n, limit+1-len(c.line))
	line := p[:n]
	if !complete || len(c.line) > 0 {
		c.line = append(c.line, line...)
		line = c.line
	}
	switch {
	case len(line) > limit && c.state == inTrailer:
		return n, tooLarge("trailer larger than %d bytes or %d fields", MaxTrailer, MaxFields)
	case len(line) > limit:
		return n, c.reject(line, "chunk line longer than 4096 bytes")
	case !complete:
		return n, nil
	}
	if c.state == inTrailer {
		err = c.trailerLine(line)
	} else {
		err = c.chunkLine(line)
	}
	if err == nil {
		c.line = c.line[:0]
	}
	return n, err
}

// reject returns an error for a malformed line of a chunked body. It stores the
// line in c, because a Message may return the line as payload.
func (c *Chunks) reject(line []byte, text string) error {
	c.line = append(c.line[:0], line...)
	return malformed(text)
}

func (c *Chunks) chunkLine(line []byte) error {
	text := line[:len(line)-1]
	if last := len(text) - 1; last >= 0 && text[last] == '\r' {
		text = text[:last]
	} else if err := c.noteLF("chunk line ends in a bare LF"); err != nil {
		return err
	}
	if bytes.IndexByte(text, '\r') >= 0 {
		return c.reject(line, "bare CR in a chunk line")
	}
	if c.state == inDataEnd {
		if len(text) > 0 {
			return c.reject(line, "chunk longer than announced")
		}
		c.state = inSize
		return nil
	}
	size, ok := parseSize(text)
	if !ok {
		return c.reject(line, "malformed chunk size")
	}
	if c.overhead = max(c.overhead+int64(len(text))-16-2*min(size, 1<<40), 0); c.overhead > maxChunkOverhead {
		return c.reject(line, "chunk extensions exceed the limit")
	}
	c.sizeSeen, c.left, c.state = true, size, inData
	if size == 0 {
		c.state = inTrailer
	}
	return nil
}

// parseSize parses the hexadecimal size at the start of a chunk. It ignores
// chunk extensions.
func parseSize(text []byte) (size int64, ok bool) {
	digits := 0
	for _, c := range text {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			rest, _, _ := bytes.Cut(text[digits:], []byte{';'})
			return size, digits > 0 && len(bytes.Trim(rest, " \t")) == 0
		}
		if digits++; digits > 16 || size >= 1<<59 {
			return 0, false
		}
		size = size<<4 | int64(c)
	}
	return size, digits > 0
}

func (c *Chunks) trailerLine(line []byte) error {
	if !bytes.HasSuffix(line, []byte("\r\n")) {
		if err := c.noteLF("trailer line ends in a bare LF"); err != nil {
			return err
		}
	}
	if c.Rules.blank(line) {
		c.state = inEnd
		return nil
	}
	if c.fields++; c.fields > MaxFields {
		return tooLarge("trailer larger than %d bytes or %d fields", MaxTrailer, MaxFields)
	}
	c.trailer = append(c.trailer, line...)
	return nil
}

// noteLF reports a line of a chunked body that ends in LF without CR. It
// reports only the first such line of a body.
func (c *Chunks) noteLF(deviation string) error {
	if c.bareLF {
		return nil
	}
	c.bareLF = true
	return c.Rules.tolerate(deviation)
}

// ParseTrailer parses the trailer fields after a chunked body. The caller must
// first check that [Chunks.Done] is true.
func ParseTrailer[F Field](c *Chunks) ([]F, error) {
	text, _ := Unfold(string(c.trailer))
	return ParseFields[F](c.Rules, text)
}
