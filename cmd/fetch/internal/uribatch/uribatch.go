// Package uribatch evaluates requests about URIs for "fetch uri --batch".
// Requests and responses are JSON objects, one per line.
//
// A request has a kind and the inputs of that kind. Its id is a JSON value of
// any type, which the response repeats.
//
//	kind        inputs             result
//	valid       input, production  bool; the production is a rule name of RFC 3986
//	parse       input              components, percent-encoded; null: undefined
//	resolve     base, ref          string
//	normalize   input, level       string; the level is "syntax" or "scheme"
//	equivalent  a, b, level        bool
//	relativize  base, target       string
//	extract     text               list of the URIs in text, with ASCII host names
//
// A response has the form {"id":…,"result":…}. The result is null if an input
// is not a URI. The response to an unknown kind, production or level is
// {"id":…,"unsupported":true}. The response to a malformed request is
// {"id":…,"error":"…"}.
package uribatch

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"

	"github.com/anyurl/fetch/internal/base/tty"
)

// maxLine limits the length of a request in bytes. The response to a longer
// request is an error.
const maxLine = 4 << 20

// A request is one line of input, decoded from JSON. A nil input is null or
// missing in the JSON object.
type request struct {
	ID                                   json.RawMessage `json:"id"`
	Kind                                 string          `json:"kind"`
	Input, Base, Ref, Target, A, B, Text *string
	Production, Level                    string
}

// A response is one line of output. Exactly one of the fields Result,
// Unsupported and Error is set.
type response struct {
	ID          json.RawMessage `json:"id"`
	Result      *any            `json:"result,omitempty"` // pointer, so that null is written
	Unsupported bool            `json:"unsupported,omitempty"`
	Error       string          `json:"error,omitempty"`
}

var (
	errUnsupported  = errors.New("unsupported")
	errTooLong      = errors.New("line too long")
	errMissingInput = errors.New("input missing")
)

// Run reads requests from r and writes one response to each request to w, in
// the same order. It buffers one request at a time. It flushes the responses
// before it waits for further input.
//
// Run returns nil at the end of r, and otherwise the first error of r or w, or
// the error of ctx. It checks ctx between lines, so ctx does not interrupt a
// Read that blocks.
//
// The URIs in the responses contain their passwords.
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
			if err := writeResponse(out, respond(line, err)); err != nil {
				return err
			}
		}
		if buffered, _ := in.Peek(in.Buffered()); bytes.IndexByte(buffered, '\n') < 0 {
			if err := out.Flush(); err != nil {
				return err
			}
		}
	}
}

// readLine returns the next line without surrounding space. It discards a line
// longer than maxLine and returns errTooLong. The last line may lack a newline.
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

func writeResponse(out *bufio.Writer, a response) error {
	var line bytes.Buffer
	e := json.NewEncoder(&line)
	e.SetEscapeHTML(false)
	if err := e.Encode(a); err != nil {
		return err
	}
	_, err := out.Write(tty.JSON(line.Bytes())) // escapes control characters in the id
	return err
}

// respond returns the response to a line of input. If err is not nil, the line
// could not be read, and the response contains err.
func respond(line []byte, err error) response {
	var q request
	if err != nil {
		return response{Error: err.Error()}
	}
	if err := json.Unmarshal(line, &q); err != nil {
		return response{ID: q.ID, Error: "not a request"}
	}
	result, err := q.evaluate()
	switch {
	case err == errUnsupported:
		return response{ID: q.ID, Unsupported: true}
	case err == errMissingInput:
		return response{ID: q.ID, Error: err.Error()}
	case err != nil:
		result = nil // an input is not a URI
	}
	return response{ID: q.ID, Result: &result}
}
