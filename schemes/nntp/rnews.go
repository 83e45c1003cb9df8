package nntp

import (
	"bufio"
	"io"
	"iter"
	"strings"

	"github.com/anyurl/fetch/fetch"
)

// Messages returns the messages in a response body with the given media type. A
// batch contains messages in the rnews format. A body of another type is one
// message. Each message is valid until the next iteration, which skips the
// unread bytes of the message. The sequence ends at the first error. Both the
// reader of the current message and the sequence return an error of r.
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

// readBatchLine reads the line "#! rnews LENGTH" before an article.
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
		return 0, fetch.Protocol.Errorf("line %q is missing in the batch", "#! rnews LENGTH")
	}
	return int64(n), nil
}

// A batchMessage is the reader of an article in a batch.
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
		err = fetch.Truncated.Errorf("batch is truncated within an article: %w", io.ErrUnexpectedEOF)
	}
	return n, err
}
