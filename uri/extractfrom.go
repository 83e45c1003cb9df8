package uri

import (
	"io"
	"iter"
	"strings"
)

// window is the size of the buffer in which ExtractFrom searches a part of the
// stream, in bytes.
const window = 512 << 10

// ExtractFrom returns an iterator over the URIs in the text that it reads from
// r. It finds the same URIs as [Extract] but needs only constant memory. The
// fields Start and End are offsets from the start of the stream. If r returns
// an error other than io.EOF, the last pair is a zero Match and this error.
func ExtractFrom(r io.Reader) iter.Seq2[Match, error] {
	return func(yield func(Match, error) bool) {
		var x extractor
		passed := 0 // bytes of the stream before x.text
		buf := make([]byte, window)
		for {
			// Keep the bytes in the buffer that the next match may contain.
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

// clone returns u with a copy of its string. The copy allows the garbage
// collector to free the buffer from which u was parsed.
func (u URI) clone() URI {
	u.s = strings.Clone(u.s)
	return u
}
