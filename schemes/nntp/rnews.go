package nntp

import (
	"bufio"
	"io"
	"iter"
	"strings"

	"github.com/anyurl/fetch/fetch"
)

// Messages reads the messages of a Body by its media type: those of a batch,
// or the one that any other Body is. Each is valid until the next; what was not
// read of it is skipped. An error ends the sequence: one of r stands at the end
// of the message that it cut, too.
func Messages(media string, r io.Reader) iter.Seq2[io.Reader, error] {
	return func(yield func(io.Reader, error) bool) {
		if media != batchMedia {
			yield(r, nil)
			return
		}
		in := bufio.NewReaderSize(r, 32<<10)
		for {
			size, err := readBatchLine(in)
			if err == io.EOF {
				return
			}
			if err != nil {
				yield(nil, err)
				return
			}
			m := &batchMessage{in, size}
			if !yield(m, nil) {
				return
			}
			if _, err := io.Copy(io.Discard, m); err != nil {
				yield(nil, err)
				return
			}
		}
	}
}

// batchLine reads the line before an article: "#! rnews LENGTH".
func readBatchLine(in *bufio.Reader) (size int64, err error) {
	text, err := in.ReadSlice('\n')
	if err == io.EOF && len(text) == 0 {
		return 0, io.EOF
	}
	number, ok := strings.CutPrefix(strings.TrimRight(string(text), "\r\n"), "#! rnews ")
	n, valid := parseNumber(number)
	switch {
	case err == io.EOF:
		return 0, fetch.Truncated.With(io.ErrUnexpectedEOF)
	case err != nil && err != bufio.ErrBufferFull:
		return 0, err
	case !ok || !valid:
		return 0, fetch.Protocol.Errorf("batch without a line %q", "#! rnews LENGTH")
	}
	return int64(n), nil
}

// A message is one article of a batch.
type batchMessage struct {
	in        *bufio.Reader
	remaining int64
}

func (m *batchMessage) Read(p []byte) (int, error) {
	if m.remaining == 0 {
		return 0, io.EOF
	}
	n, err := m.in.Read(p[:min(int64(len(p)), m.remaining)])
	if m.remaining -= int64(n); err == io.EOF && m.remaining > 0 {
		err = fetch.Truncated.Errorf("batch ends within an article: %w", io.ErrUnexpectedEOF)
	}
	return n, err
}
