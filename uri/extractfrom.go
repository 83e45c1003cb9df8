package uri

import (
	"io"
	"iter"
	"strings"
)

// window is the size of the buffer in which a stream is searched, in bytes.
const window = 512 << 10

// ExtractFrom is like [Extract] but searches a stream in constant memory. Start
// and End are offsets from the start of the stream. If r returns an error other
// than io.EOF, the iterator ends with a zero Match and that error.
func ExtractFrom(r io.Reader) iter.Seq2[Match, error] {
	return func(yield func(Match, error) bool) {
		var x extractor
		passed := 0 // bytes of the stream before x.text
		buf := make([]byte, window)
		for {
			// Keep the bytes that may belong to a URI at or after x.at.
			keep := max(x.floor, x.at-maxScheme-maxWrapperGap-1)
			n := copy(buf, x.text[keep:])
			m, err := io.ReadFull(r, buf[n:])
			x = extractor{text: string(buf[:n+m]), floor: max(x.floor-keep, 0), at: x.at - keep}
			passed += keep
			limit := len(x.text)
			if err == nil {
				limit -= maxMatch + maxScheme
			}
			for {
				f, ok := x.next(limit)
				if !ok {
					break
				}
				f.Start += passed
				f.End += passed
				f.URI, f.Alternative = f.URI.clone(), f.Alternative.clone()
				if !yield(f, nil) {
					return
				}
			}
			if err == io.EOF || err == io.ErrUnexpectedEOF {
				return
			}
			if err != nil {
				yield(Match{}, err)
				return
			}
		}
	}
}

// clone returns u with a copy of its string, so that u does not keep the buffer
// in memory.
func (u URI) clone() URI {
	u.s = strings.Clone(u.s)
	return u
}
