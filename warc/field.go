package warc

import (
	"io"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/http1"
)

// storedRules returns the rules for heads in archives.
func storedRules() *http1.Rules { return &http1.Rules{Mode: http1.Stored} }

// HTTPHead reads the head of an http answer up to its blank line, which is
// included; interim answers (1xx) before it are left out. It is what a revisit
// repeats. An answer that ends early has the head that it has.
func HTTPHead(answer io.Reader) ([]byte, error) { return http1.NewReader(answer, 4<<10).ReadHead() }

// httpHead reads the head of an http answer.
func httpHead(block io.Reader) (status int, fields fetch.Header, err error) {
	head, err := HTTPHead(block)
	if err != nil {
		return 0, nil, err
	}
	status, fields = parseHead(head)
	return status, fields, nil
}

// parseHead parses the head of an http message. The status of a request, or of
// anything else, is zero.
func parseHead(head []byte) (status int, fields fetch.Header) {
	s, fields, _ := http1.ParseHead[fetch.Field](storedRules(), string(head))
	return s.Code, fields
}

// parseFields parses the named fields of a record, which have the syntax of
// http (WARC 1.1 section 4).
func parseFields(text string) fetch.Header {
	text, _ = http1.Unfold(text)
	fields, _ := http1.ParseFields[fetch.Field](storedRules(), text)
	return fields
}

// appendField writes a field unless its value is empty.
func appendField(b []byte, name, value string) []byte {
	if value == "" {
		return b
	}
	return http1.AppendField(b, name, value)
}

// appendID writes a field whose value is an identifier in brackets.
func appendID(b []byte, name, id string) []byte {
	if id == "" {
		return b
	}
	return appendField(b, name, "<"+id+">")
}

// plain reports whether text can stand in a field: it adds no line.
func plain(text string) bool { return !strings.ContainsAny(text, "\r\n\x00") }
