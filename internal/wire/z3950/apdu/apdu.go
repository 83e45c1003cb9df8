// Package apdu encodes the requests and decodes the responses of Z39.50-1995
// (ISO 23950), versions 2 and 3. These messages are encoded in BER. The messages
// of WAIS are not.
package apdu

import (
	"fmt"

	"github.com/anyurl/fetch/internal/wire/ber"
)

// MaxMessage is the maximum size of a response in bytes.
const MaxMessage = 9 << 20

// maxRecords is the maximum number of records and diagnostics in a response.
const maxRecords = 1000

// maxFields is the maximum number of fields in a message or a record.
const maxFields = 100

// The context-specific tags of messages.
const (
	tagInit            = 20
	tagInitResponse    = 21
	tagSearch          = 22
	tagSearchResponse  = 23
	tagPresent         = 24
	tagPresentResponse = 25
	tagAccessControl   = 28
	tagClose           = 48
)

// A Response is one of *InitResponse, *SearchResponse, *PresentResponse,
// *AccessControl and *Close.
type Response interface {
	decode(fields []ber.Element) error
}

// Decode decodes a response. The response shares memory with b.
func Decode(b []byte) (Response, error) {
	e, rest, err := ber.Cut(b)
	switch {
	case err != nil:
		return nil, err
	case len(rest) > 0:
		return nil, malformed("%d bytes after the message", len(rest))
	case e.Class != ber.Context:
		return nil, malformed("message of type %v", e)
	}
	var p Response
	switch e.Tag {
	case tagInitResponse:
		p = new(InitResponse)
	case tagSearchResponse:
		p = new(SearchResponse)
	case tagPresentResponse:
		p = new(PresentResponse)
	case tagAccessControl:
		return new(AccessControl), nil
	case tagClose:
		p = new(Close)
	default:
		return nil, malformed("message of type %v", e)
	}
	fields, err := e.Children(maxFields)
	if err == nil {
		err = p.decode(fields)
	}
	if err != nil {
		return nil, fmt.Errorf("message %d: %w", e.Tag, err)
	}
	return p, nil
}

func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ber.ErrMalformed, fmt.Sprintf(format, args...))
}

// fields maps the tags of fields to the variables that receive their values: a
// *int64, a *bool or a *string.
type fields map[uint32]any

// read decodes the fields that are in the map, and ignores other fields. If a
// field occurs twice, read keeps the last value.
func (f fields) read(all []ber.Element) (err error) {
	for _, e := range all {
		if e.Class != ber.Context {
			continue
		}
		switch to := f[e.Tag].(type) {
		case *int64:
			*to, err = e.Int()
		case *bool:
			*to, err = e.Bool()
		case *string:
			*to, err = text(e)
		}
		if err != nil {
			return fmt.Errorf("field %d: %w", e.Tag, err)
		}
	}
	return nil
}

// text returns the value of a BER character string.
func text(e ber.Element) (string, error) {
	b, err := e.Bytes()
	return string(b), err
}

// AccessControl is a server's request for further authentication.
type AccessControl struct{}

func (*AccessControl) decode([]ber.Element) error { return nil }

// A Close ends the session. Either side can send it at any time.
type Close struct {
	Reason int64  // 0 finished, 1 shutdown, 2 system problem, ...
	Text   string // explanation for people
}

func (p *Close) decode(all []ber.Element) error {
	return fields{211: &p.Reason, 3: &p.Text}.read(all)
}

// AppendClose returns an encoded Close with the reason 0 (finished).
func AppendClose() []byte { return ber.Group(tagClose, ber.Number(211, 0)) }
