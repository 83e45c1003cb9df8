package rfc822

import (
	"bytes"
	"hash/crc32"
	"io"
	"strconv"
	"strings"

	"github.com/anyurl/fetch/fetch"
)

// A yencDecoder decodes a yEnc file, or the part of the file in one article
// (yEnc draft 1.3 by J. Helbing, 2002). Each encoded byte is the original byte
// plus 42. A byte after "=" is the original byte plus 106.
type yencDecoder struct {
	in           *lines
	size         int64 // size in bytes of the data in this article, or -1 if unknown
	completeFile bool  // if true, the article contains the complete file
	escaped      bool
	sum          uint32
	decoded      int64
	out          []byte
}

// parseYEncBegin parses a "=ybegin" line. If the file has several parts, it
// also reads the "=ypart" line.
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

// The type yencFields maps the keys of a yEnc line to their values. In the
// field "size=1234", the key is "size".
type yencFields map[string]string

// decimal returns the value of a field as a number. It returns -1 if the field
// is missing or invalid.
func (w yencFields) decimal(key string) int64 {
	n, err := strconv.ParseInt(w[key], 10, 64)
	if err != nil || n < 0 {
		return -1
	}
	return n
}

// crc returns the value of a hexadecimal CRC-32 field. It returns false if the
// field is missing or invalid.
func (w yencFields) crc(key string) (uint32, bool) {
	n, err := strconv.ParseUint(w[key], 16, 64) // some encoders write more than eight digits
	return uint32(n), err == nil && n < 1<<32
}

// parseYEncLine parses a line that starts with keyword, such as "=ybegin". The
// field "name" extends to the end of the line, because a file name may contain
// any characters.
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

// next decodes one line of data. At the "=yend" line, it returns the result of
// verify.
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

// verify compares the decoded data with the size and checksum in the "=yend"
// line. If the data is correct, verify returns io.EOF.
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
