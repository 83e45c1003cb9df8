package warc

import (
	"strconv"
	"strings"

	"github.com/anyurl/fetch/fetch"
)

// parseHead reads the head of an HTTP message: the status of an answer, zero
// for a request or what is neither, and its fields.
func parseHead(head []byte) (status int, fields fetch.Header) {
	first, rest, _ := strings.Cut(string(head), "\n")
	if version, after, ok := strings.Cut(strings.TrimRight(first, "\r"), " "); ok && strings.HasPrefix(version, "HTTP/") {
		code, _, _ := strings.Cut(strings.TrimLeft(after, " "), " ")
		status, _ = strconv.Atoi(code)
	}
	return status, parseFields(rest)
}

// parseFields reads named fields (RFC 2822 section 2.2), folded lines
// included. What is no field is left out.
func parseFields(text string) (fields fetch.Header) {
	var value []byte // of the last field, where it is folded
	unfold := func() {
		if len(value) > 0 {
			fields[len(fields)-1].Value = strings.TrimSpace(string(value))
		}
		value = value[:0]
	}
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSuffix(line, "\r")
		if folded := strings.TrimLeft(line, " \t"); folded != line && len(fields) > 0 {
			if len(value) == 0 {
				value = append(value, fields[len(fields)-1].Value...)
			}
			if folded = strings.TrimSpace(folded); folded != "" {
				value = append(append(value, ' '), folded...)
			}
			continue
		}
		name, first, ok := strings.Cut(line, ":")
		if name = strings.TrimSpace(name); ok && name != "" {
			unfold()
			fields = append(fields, fetch.Field{Name: name, Value: strings.TrimSpace(first)})
		}
	}
	unfold()
	return fields
}

// appendField writes a field unless its value is empty.
func appendField(b []byte, name, value string) []byte {
	if value == "" {
		return b
	}
	b = append(b, name...)
	b = append(b, ": "...)
	b = append(b, value...)
	return append(b, "\r\n"...)
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

// token reports whether name can be that of a field.
func token(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune(`()<>@,;:\"/[]?={}`, r)
	})
}
