package gopher

import (
	"bufio"
	"bytes"
	"io"

	"github.com/anyurl/fetch/schemes/internal/sessions"
)

// A pieceKind classifies a piece of text from a dotReader by the dots at the
// start of a line.
type pieceKind uint8

const (
	plainText    pieceKind = iota // bytes without a leading dot
	dotPrefix                     // leading dot of a line such as ".x"
	dotDotPrefix                  // first dot of a line such as "..x"
	dotDotLine                    // first dot of the line ".."
	dotLine                       // line ".", including its line end
)

// A dotReader splits text into pieces, so that each leading dot of a line is a
// separate piece. It never looks beyond the buffer of r, and reads no more
// bytes than it needs for the next piece.
type dotReader struct {
	r        *bufio.Reader
	midLine  bool // the next byte does not start a line
	pieceLen int  // length in bytes of the last piece, which is still in the buffer
}

// next returns the next piece and its kind. The piece is valid until the next
// call.
func (d *dotReader) next() ([]byte, pieceKind, error) {
	d.r.Discard(d.pieceLen)
	d.pieceLen = 0
	if _, err := d.r.Peek(1); err != nil {
		return nil, plainText, err
	}
	w, _ := d.r.Peek(d.r.Buffered())
	if d.midLine || w[0] != '.' {
		n := len(w)
		if i := bytes.Index(w, []byte("\n.")); i >= 0 {
			n = i + 1
		}
		d.midLine = w[n-1] != '\n'
		return d.piece(w[:n], plainText)
	}
	return d.dot()
}

// dot reads the first piece of a line that starts with a dot. It reads at most
// three bytes after the dot.
func (d *dotReader) dot() ([]byte, pieceKind, error) {
	end, err := d.lineEnd(1)
	if err != nil {
		return nil, plainText, err
	}
	w, _ := d.r.Peek(2)
	switch {
	case end > 0:
		w, _ = d.r.Peek(end)
		return d.piece(w, dotLine)
	case w[1] != '.':
		d.midLine = true
		return d.piece(w[:1], dotPrefix)
	}
	m := dotDotPrefix
	if end, err = d.lineEnd(2); err != nil {
		return nil, plainText, err
	} else if end > 0 {
		m = dotDotLine
	}
	d.midLine = true
	w, _ = d.r.Peek(1) // lineEnd may have moved the data within the buffer
	return d.piece(w, m)
}

// lineEnd returns the length of the current line, including its line end, if
// the line has exactly n bytes before the line end. It returns zero for a
// longer line. The end of the input also ends a line.
func (d *dotReader) lineEnd(n int) (int, error) {
	w, err := d.r.Peek(n + 1)
	if len(w) > n && w[n] == '\r' {
		w, err = d.r.Peek(n + 2)
	}
	switch {
	case err != nil && err != io.EOF:
		return 0, err
	case len(w) <= n, w[n] == '\n', w[n] == '\r' && (len(w) == n+1 || w[n+1] == '\n'):
		return len(w), nil
	}
	return 0, nil
}

func (d *dotReader) piece(w []byte, m pieceKind) ([]byte, pieceKind, error) {
	d.pieceLen = len(w)
	return w, m, nil
}

// A dotBlock reads Gopher+ data that ends with a line ".", as announced by the
// header "+-1". Read returns io.EOF only after this line. UMN gopherd is the
// only known server that sends such data. UMN gopherd adds a dot only to a line
// that consists of one dot.
type dotBlock struct {
	dots dotReader
	out  []byte
	err  error
}

func newDotBlock(r *bufio.Reader) *dotBlock { return &dotBlock{dots: dotReader{r: r}} }

func (b *dotBlock) Read(p []byte) (int, error) {
	return sessions.ReadPending(p, &b.out, &b.err, b.processPiece)
}

func (b *dotBlock) processPiece() {
	w, m, err := b.dots.next()
	switch {
	case err == io.EOF:
		b.err = io.ErrUnexpectedEOF
	case err != nil:
		b.err = err
	case m == dotLine:
		b.err = io.EOF
	case m != dotDotLine:
		b.out = w
	}
}
