// Package uribatch answers questions about URIs, one JSON object a line: the
// work of "fetch uri --batch". Call [Run].
//
// A request has a "kind" and its inputs, and an "id" of any JSON type that the
// answer repeats:
//
//	kind        inputs             result
//	valid       input, production  bool; production as RFC 3986 names it
//	parse       input              components, still encoded; null: undefined
//	resolve     base, ref          string
//	normalize   input, level       string; level is syntax or scheme
//	equivalent  a, b, level        bool
//	relativize  base, target       string
//	extract     text               strings: the URIs in it, their hosts as DNS has them
//
// An answer is {"id":…,"result":…}. The result is null when an input is no URI.
// A kind, production or level that is unknown gives {"id":…,"unsupported":true}, and a
// line that is no request {"id":…,"error":"…"}.
package uribatch

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"

	"github.com/anyurl/fetch/internal/tty"
)

// maxLine bounds a request, and so the memory of Run. A longer line is answered
// with an error.
const maxLine = 4 << 20

// A request is one line of input. A pointer tells a missing string from "".
type request struct {
	ID                                   json.RawMessage `json:"id"`
	Kind                                 string          `json:"kind"`
	Input, Base, Ref, Target, A, B, Text *string
	Production, Level                    string
}

// An answer is one line of output; one of its last three fields is set.
type answer struct {
	ID          json.RawMessage `json:"id"`
	Result      *any            `json:"result,omitempty"` // not nil: null counts
	Unsupported bool            `json:"unsupported,omitempty"`
	Error       string          `json:"error,omitempty"`
}

var (
	errUnsupported = errors.New("unsupported")
	errTooLong     = errors.New("line too long")
	errInput       = errors.New("input missing")
)

// Run reads requests from r until its end and writes an answer for each to w, in
// order. It holds one line at a time, and flushes whenever the next one has to be
// waited for. It returns the first error of r or w, or that of ctx, which it looks
// at between lines: it cannot end a Read that waits.
//
// Answers hold the URIs as they are, passwords included: they are the product.
func Run(ctx context.Context, r io.Reader, w io.Writer) error {
	in := bufio.NewReaderSize(r, 64<<10)
	out := bufio.NewWriter(w)
	for {
		if err := ctx.Err(); err != nil {
			return errors.Join(err, out.Flush())
		}
		line, err := readLine(in)
		if err != nil && err != errTooLong {
			if err == io.EOF {
				err = nil
			}
			return errors.Join(err, out.Flush())
		}
		if len(line) > 0 || err != nil {
			if err := write(out, reply(line, err)); err != nil {
				return err
			}
		}
		if waiting, _ := in.Peek(in.Buffered()); bytes.IndexByte(waiting, '\n') < 0 {
			if err := out.Flush(); err != nil {
				return err
			}
		}
	}
}

// readLine returns the next line without surrounding space. It skips one longer
// than maxLine and returns errTooLong; the end of a last line without newline counts.
func readLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	long := false
	for {
		part, err := in.ReadSlice('\n')
		if long = long || len(line)+len(part) > maxLine; long {
			line = nil
		} else {
			line = append(line, part...)
		}
		switch {
		case err == bufio.ErrBufferFull:
			continue
		case err != nil && !(err == io.EOF && (long || len(line) > 0)):
			return nil, err
		case long:
			return nil, errTooLong
		}
		return bytes.TrimSpace(line), nil
	}
}

func write(out *bufio.Writer, a answer) error {
	var line bytes.Buffer
	e := json.NewEncoder(&line)
	e.SetEscapeHTML(false)
	if err := e.Encode(a); err != nil {
		return err
	}
	_, err := out.Write(tty.JSON(line.Bytes())) // the id is that of the request
	return err
}

// reply answers one line, or tells why it could not be read.
func reply(line []byte, err error) answer {
	var q request
	if err != nil {
		return answer{Error: err.Error()}
	}
	if err := json.Unmarshal(line, &q); err != nil {
		return answer{ID: q.ID, Error: "not a request"}
	}
	result, err := q.evaluate()
	switch {
	case err == errUnsupported:
		return answer{ID: q.ID, Unsupported: true}
	case err == errInput:
		return answer{ID: q.ID, Error: err.Error()}
	case err != nil:
		result = nil // no URI: null
	}
	return answer{ID: q.ID, Result: &result}
}
