package warc

import (
	"io"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/http1"
)

// storedRules returns the parsing rules for stored HTTP headers.
func storedRules() *http1.Rules { return &http1.Rules{Mode: http1.Stored} }

// HTTPHead reads the header of an HTTP response, including the blank line after
// it. A revisit record of an HTTP response has this header as its block.
// Interim responses (1xx) are skipped. If the response ends early, HTTPHead
// returns the truncated header without an error.
func HTTPHead(response io.Reader) ([]byte, error) { return http1.NewReader(response, 4<<10).ReadHead() }

// httpHead reads and parses the header of an HTTP response.
func httpHead(block io.Reader) (status int, fields fetch.Header, err error) {
	head, err := HTTPHead(block)
	if err != nil {
		return 0, nil, err
	}
	status, fields = parseHead(head)
	return status, fields, nil
}

// parseHead parses the header of an HTTP message. The status is zero if the
// message is not a response.
func parseHead(head []byte) (status int, fields fetch.Header) {
	s, fields, _ := http1.ParseHead[fetch.Field](storedRules(), string(head))
	return s.Code, fields
}

// parseFields parses the header fields of a record, which have the syntax of
// HTTP header fields (WARC 1.1 section 4).
func parseFields(text string) fetch.Header {
	text, _ = http1.Unfold(text)
	fields, _ := http1.ParseFields[fetch.Field](storedRules(), text)
	return fields
}

// appendField appends a header field to b, unless value is empty.
func appendField(b []byte, name, value string) []byte {
	if value == "" {
		return b
	}
	return http1.AppendField(b, name, value)
}

// appendID appends a header field with a record ID in angle brackets, unless id
// is empty.
func appendID(b []byte, name, id string) []byte {
	if id == "" {
		return b
	}
	return appendField(b, name, "<"+id+">")
}

// singleLine reports whether text has no line breaks or NUL, and so can be the
// value of a header field.
func singleLine(text string) bool { return !strings.ContainsAny(text, "\r\n\x00") }
