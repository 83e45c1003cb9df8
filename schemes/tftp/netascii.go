package tftp

import "io"

// A netascii reader decodes netascii: CR LF is a line end, and CR NUL is CR (RFC
// 764).
type netascii struct {
	r   io.Reader
	in  [4 << 10]byte
	buf []byte
	out []byte // decoded, not yet read
	cr  bool   // the last byte was CR
	err error
}

func (a *netascii) Read(p []byte) (int, error) {
	for len(a.out) == 0 {
		if a.err != nil {
			return 0, a.err
		}
		var n int
		n, a.err = a.r.Read(a.in[:])
		a.buf = a.decode(a.buf[:0], a.in[:n])
		if a.err == io.EOF && a.cr {
			a.buf, a.cr = append(a.buf, '\r'), false
		}
		a.out = a.buf
	}
	n := copy(p, a.out)
	a.out = a.out[n:]
	return n, nil
}

// decode appends the decoded bytes of src to dst. It holds back a CR at the end.
func (a *netascii) decode(dst, src []byte) []byte {
	for _, c := range src {
		switch {
		case a.cr && c == '\n':
			dst = append(dst, '\n')
		case a.cr && c == 0:
			dst = append(dst, '\r')
		case a.cr && c == '\r':
			dst = append(dst, '\r')
			continue // the second CR is held back
		case a.cr:
			dst = append(dst, '\r', c)
		case c != '\r':
			dst = append(dst, c)
		}
		a.cr = !a.cr && c == '\r'
	}
	return dst
}
