package proxy

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/anyurl/fetch/internal/wire/http1"
)

// maxDrain is the maximum size in bytes of a response body that is discarded to
// reuse the connection. For a longer body, a new connection is cheaper.
const maxDrain = 64 << 10

// A head holds the status line and the header fields of a response from the
// proxy.
type head struct {
	http1.Status
	fields []Field
}

// readHead reads the status line and the header of a response from the proxy.
// It skips interim (1xx) responses. It reads one byte at a time, because the
// bytes after the header belong to the tunnel. If received is not nil, readHead
// passes each head to it.
func readHead(r io.Reader, received func(string)) (*head, error) {
	rules := &http1.Rules{Mode: http1.Strict}
	lines := http1.Lines{Rules: rules}
	for range http1.MaxInterim + 1 {
		if err := readLines(r, &lines); err != nil {
			return nil, err
		}
		if received != nil {
			received(lines.Head())
		}
		status, fields, err := http1.ParseHead[Field](rules, lines.Head())
		switch {
		case err != nil:
			return nil, invalidReply(err)
		case status.Code == 101:
			return nil, fmt.Errorf("%w: unexpected status 101", ErrMalformed)
		case status.Code/100 != 1:
			return &head{status, fields}, nil
		}
		lines.Restart(lines.Text)
	}
	return nil, fmt.Errorf("%w: too many interim responses", ErrTooLong)
}

func readLines(r io.Reader, lines *http1.Lines) error {
	var b [1]byte
	for done := false; !done; {
		_, err := io.ReadFull(r, b[:])
		if err != nil {
			return closedError(err)
		}
		if _, done, err = lines.Next(b[:]); err != nil {
			return invalidReply(err)
		}
	}
	return nil
}

// invalidReply wraps an error of package http1 in ErrTooLong or ErrMalformed.
func invalidReply(err error) error {
	var e *http1.Error
	if errors.As(err, &e) && e.TooLarge {
		return fmt.Errorf("%w: %w", ErrTooLong, err)
	}
	return fmt.Errorf("%w: %w", ErrMalformed, err)
}

func (h *head) values(name string) (list []string) {
	for _, f := range h.fields {
		if strings.EqualFold(f.Name, name) {
			list = append(list, f.Value)
		}
	}
	return list
}

// drain reads the response body and reports whether the connection can be used
// for another request.
func (h *head) drain(r io.Reader) bool {
	f, err := http1.Frame(&http1.Rules{}, h.Status, h.fields, false)
	if err != nil || !f.KeepAlive || f.End != http1.AtHead && f.End != http1.AtLength || f.Length > maxDrain {
		return false
	}
	_, err = io.CopyN(io.Discard, r, f.Length)
	return err == nil
}
