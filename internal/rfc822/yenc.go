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
type yenc struct {
	in      *lines
	size    int64 // of what this article holds; -1: not told
	whole   bool  // the article holds the whole file
	escaped bool
	sum     uint32
	made    int64
	out     []byte
}

// beginYEnc reads "=ybegin" and, for one part of many, "=ypart".
func beginYEnc(text string, in *lines) (*File, bool, error) {
	words, name, ok := yencLine(text, "=ybegin ")
	if !ok {
		return nil, false, nil
	}
	f := &File{Name: name, Size: words.number("size")}
	y := &yenc{in: in, size: f.Size, whole: true}
	if part := words.number("part"); part > 0 {
		f.Part, f.Total = int(min(part, 1<<30)), int(min(max(words.number("total"), 0), 1<<30))
		text, whole, err := in.next()
		if err != nil {
			return nil, false, cut(err)
		}
		part, _, ok := yencLine(string(text), "=ypart ")
		begin, end := part.number("begin"), part.number("end")
		if !ok || !whole || begin < 1 || end < begin-1 {
			return nil, false, fetch.Protocol.Errorf("yEnc: no line =ypart with begin and end")
		}
		f.Offset, y.size, y.whole = begin-1, end-begin+1, begin == 1 && end == f.Size
	}
	f.Body = &chunked{next: y.next}
	return f, true, nil
}

// yencWords are the values of a line of keywords.
type yencWords map[string]string

// number is a value in decimal digits, or -1.
func (w yencWords) number(key string) int64 {
	n, err := strconv.ParseInt(w[key], 10, 64)
	if err != nil || n < 0 {
		return -1
	}
	return n
}

// sum is a value in hexadecimal digits.
func (w yencWords) sum(key string) (uint32, bool) {
	n, err := strconv.ParseUint(w[key], 16, 64) // some write more zeros before it
	return uint32(n), err == nil && n < 1<<32
}

// yencLine reads a line of keywords. The name comes last and may hold anything.
func yencLine(text, keyword string) (words yencWords, name string, ok bool) {
	if text, ok = strings.CutPrefix(text, keyword); !ok {
		return nil, "", false
	}
	if before, rest, found := strings.Cut(" "+text, " name="); found {
		text, name = before, strings.Trim(strings.TrimSpace(rest), `"`)
	}
	words = yencWords{}
	for word := range strings.FieldsSeq(text) {
		key, value, _ := strings.Cut(word, "=")
		words[key] = value
	}
	return words, name, true
}

// next decodes one line.
func (y *yenc) next() ([]byte, error) {
	text, whole, err := y.in.next()
	if err != nil {
		return nil, cut(err)
	}
	if whole && !y.escaped && bytes.HasPrefix(text, []byte("=y")) {
		if words, _, ok := yencLine(string(text)+" ", "=yend "); ok {
			return nil, y.end(words)
		}
		return nil, fetch.Protocol.Errorf("yEnc: unknown line within the data")
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
	if y.made += int64(len(y.out)); y.size >= 0 && y.made > y.size {
		return nil, fetch.Mismatch.Errorf("yEnc: more than the %d bytes that were announced", y.size)
	}
	return y.out, nil
}

// end compares what was decoded with what "=yend" says of it.
func (y *yenc) end(words yencWords) error {
	if size := words.number("size"); y.size >= 0 && y.made != y.size || size >= 0 && y.made != size {
		return fetch.Mismatch.Errorf("yEnc: %d bytes, %d and %d announced", y.made, y.size, size)
	}
	sum, told := words.sum("pcrc32")
	if !told && y.whole {
		sum, told = words.sum("crc32")
	}
	if told && sum != y.sum {
		return fetch.Mismatch.Errorf("yEnc: CRC-32 %08x, %08x announced", y.sum, sum)
	}
	return io.EOF
}
