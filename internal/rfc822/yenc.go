package rfc822

import (
	"bytes"
	"hash/crc32"
	"io"
	"strconv"
	"strings"

	"github.com/anyurl/fetch/fetch"
)

// A yenc decodes one file, or the part of one that an article holds, by the
// yEnc draft 1.3 (J. Helbing, 2002): each byte is 42 more than it was, and
// "=" before one that is 64 more again.
type yencDecoder struct {
	in           *lines
	size         int64 // of what this article holds; -1: not told
	completeFile bool  // the article holds the whole file
	escaped      bool
	sum          uint32
	decoded      int64
	out          []byte
}

// beginYEnc reads "=ybegin" and, for one part of many, "=ypart".
func parseYEncBegin(text string, in *lines) (*File, bool, error) {
	words, name, ok := parseYEncLine(text, "=ybegin ")
	if !ok {
		return nil, false, nil
	}
	f := &File{Name: name, Size: words.decimal("size")}
	y := &yencDecoder{in: in, size: f.Size, completeFile: true}
	if part := words.decimal("part"); part > 0 {
		f.Part, f.Total = int(min(part, 1<<30)), int(min(max(words.decimal("total"), 0), 1<<30))
		text, complete, err := in.next()
		if err != nil {
			return nil, false, truncated(err)
		}
		part, _, ok := parseYEncLine(string(text), "=ypart ")
		begin, end := part.decimal("begin"), part.decimal("end")
		if !ok || !complete || begin < 1 || end < begin-1 {
			return nil, false, fetch.Protocol.Errorf("yEnc: missing or malformed =ypart line")
		}
		f.Offset, y.size, y.completeFile = begin-1, end-begin+1, begin == 1 && end == f.Size
	}
	f.Body = &pieceReader{next: y.next}
	return f, true, nil
}

// yencWords are the values of a line of keywords.
type yencFields map[string]string

// number is a value in decimal digits, or -1.
func (w yencFields) decimal(key string) int64 {
	n, err := strconv.ParseInt(w[key], 10, 64)
	if err != nil || n < 0 {
		return -1
	}
	return n
}

// sum is a value in hexadecimal digits.
func (w yencFields) crc(key string) (uint32, bool) {
	n, err := strconv.ParseUint(w[key], 16, 64) // some write more zeros before it
	return uint32(n), err == nil && n < 1<<32
}

// yencLine reads a line of keywords. The name comes last and may hold anything.
func parseYEncLine(text, keyword string) (words yencFields, name string, ok bool) {
	if text, ok = strings.CutPrefix(text, keyword); !ok {
		return nil, "", false
	}
	if before, rest, found := strings.Cut(" "+text, " name="); found {
		text, name = before, strings.Trim(strings.TrimSpace(rest), `"`)
	}
	words = yencFields{}
	for word := range strings.FieldsSeq(text) {
		key, value, _ := strings.Cut(word, "=")
		words[key] = value
	}
	return words, name, true
}

// next decodes one line.
func (y *yencDecoder) next() ([]byte, error) {
	text, complete, err := y.in.next()
	if err != nil {
		return nil, truncated(err)
	}
	if complete && !y.escaped && bytes.HasPrefix(text, []byte("=y")) {
		if words, _, ok := parseYEncLine(string(text)+" ", "=yend "); ok {
			return nil, y.verify(words)
		}
		return nil, fetch.Protocol.Errorf("yEnc: unknown keyword line in the data")
	}
	y.out = y.out[:0]
	for _, c := range text {
		switch {
		case y.escaped:
			y.out, y.escaped = append(y.out, c-64-42), false
		case c == '=':
			y.escaped = true
		case c != '\r':
			y.out = append(y.out, c-42)
		}
	}
	y.sum = crc32.Update(y.sum, crc32.IEEETable, y.out)
	if y.decoded += int64(len(y.out)); y.size >= 0 && y.decoded > y.size {
		return nil, fetch.Mismatch.Errorf("yEnc: data is longer than the %d bytes announced", y.size)
	}
	return y.out, nil
}

// end compares what was decoded with what "=yend" says of it.
func (y *yencDecoder) verify(words yencFields) error {
	if size := words.decimal("size"); y.size >= 0 && y.decoded != y.size || size >= 0 && y.decoded != size {
		return fetch.Mismatch.Errorf("yEnc: data has %d bytes, but %d and %d were announced", y.decoded, y.size, size)
	}
	sum, found := words.crc("pcrc32")
	if !found && y.completeFile {
		sum, found = words.crc("crc32")
	}
	if found && sum != y.sum {
		return fetch.Mismatch.Errorf("yEnc: data has CRC-32 %08x, but %08x was announced", y.sum, sum)
	}
	return io.EOF
}
