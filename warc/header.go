package warc

import (
	"io"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/wire/http1"
)

// storedRules returns the rules for parsing HTTP headers that are stored in
// archives.
func storedRules() *http1.Rules { return &http1.Rules{Mode: http1.Stored} }

// readHead reads the header of an HTTP response, up to and including the blank
// line. This header is the block of a revisit record. readHead skips interim
// responses (1xx). If the response is truncated within the header, readHead
// returns the truncated header and a nil error.
func readHead(response io.Reader) ([]byte, error) { return http1.NewReader(response, 4<<10).ReadHead() }

// httpHead reads and parses the header of an HTTP response.
func httpHead(block io.Reader) (status int, fields fetch.Header, err error) {
	head, err := readHead(block)
	if err != nil {
		return 0, nil, err
	}
	status, fields = parseHead(head)
	return status, fields, nil
}

// parseHead parses the header of an HTTP message and returns its fields. The
// status is zero if the message is a request.
func parseHead(head []byte) (status int, fields fetch.Header) {
	s, fields, _ := http1.ParseHead[fetch.Field](storedRules(), string(head))
	return s.Code, fields
}

// parseFields parses the header fields of a WARC record. They have the syntax
// of HTTP header fields (WARC 1.1 section 4).
func parseFields(text string) fetch.Header {
	text, _ = http1.Unfold(text)
	fields, _ := http1.ParseFields[fetch.Field](storedRules(), text)
	return fields
}

// appendField appends the header field to b. It appends no field if value is
// empty.
func appendField(b []byte, name, value string) []byte {
	if value == "" {
		return b
	}
	return http1.AppendField(b, name, value)
}

// appendID appends a header field with a record ID in angle brackets to b. It
// appends no field if id is empty.
func appendID(b []byte, name, id string) []byte {
	if id == "" {
		return b
	}
	return appendField(b, name, "<"+id+">")
}

// singleLine reports whether text has no line breaks and no NUL bytes. Other
// text is invalid as the value of a header field.
func singleLine(text string) bool { return !strings.ContainsAny(text, "\r\n\x00") }
