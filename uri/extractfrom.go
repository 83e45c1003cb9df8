package uri

import (
	"io"
	"iter"
	"strings"
)

// window is how much of a stream is looked at together.
const window = 512 << 10

// ExtractFrom is [Extract] of all that r holds, in memory that does not grow with
// it. Start and End count from the beginning of the stream. An error of r comes
// last, with no URI.
func ExtractFrom(r io.Reader) iter.Seq2[Found, error] {
	return func(yield func(Found, error) bool) {
		var x extractor
		passed := 0 // bytes of the stream before x.text
		buf := make([]byte, window)
		for {
			// What is behind x.at is read again as far as it can still count.
			keep := max(x.floor, x.at-maxScheme-maxLead-1)
			n := copy(buf, x.text[keep:])
			m, err := io.ReadFull(r, buf[n:])
			x = extractor{text: string(buf[:n+m]), floor: max(x.floor-keep, 0), at: x.at - keep}
			passed += keep
			limit := len(x.text)
			if err == nil {
				limit -= maxFound + maxScheme
			}
			for {
				f, ok := x.next(limit)
				if !ok {
					break
				}
				f.Start += passed
				f.End += passed
				f.URI, f.Or = f.URI.clone(), f.Or.clone()
				if !yield(f, nil) {
					return
				}
			}
			if err == io.EOF || err == io.ErrUnexpectedEOF {
				return
			}
			if err != nil {
				yield(Found{}, err)
				return
			}
		}
	}
}

// clone returns u in memory of its own, so that it does not keep a window alive.
func (u URI) clone() URI {
	u.s = strings.Clone(u.s)
	return u
}
