package wais

import (
	"strconv"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/wire/z3950"
	"github.com/anyurl/fetch/uri"
)

// A document identifies a document in a database by type, id and length.
type document struct {
	kind   string // WAIS type, such as TEXT
	id     string // opaque bytes, returned to the server unchanged
	length int64  // in bytes; -1: the URL has no length
}

// maxID is the maximum length of a document id in bytes.
const maxID = 64 << 10

// parseWPath parses the encoded last part of a document's URL, in one of three
// forms:
//
//	128/1=host%3A210;2=db;3=0%20128%20/a;   with the length: libwww, Mosaic, Lynx
//	1=host%3A210;2=db;3=0%20128%20/a;       RFC 1630
//	%01%08host%3A210...                     RFC 1738: the bytes of the id
func parseWPath(wpath string) (id string, length int64, err error) {
	number, fields, ok := strings.Cut(wpath, "/")
	length = -1
	if ok && number != "" && strings.Trim(number, "0123456789") == "" {
		if parsed, ok := parseFields(fields); ok {
			n, err := strconv.ParseInt(number, 10, 62)
			if err != nil {
				return "", 0, fetch.BadURL.Errorf("the length of the document is too large")
			}
			if n > 0 { // browsers wrote 0 for an unknown length
				length = n
			}
			return parsed, length, checkID(parsed)
		}
	}
	if parsed, ok := parseFields(wpath); ok {
		return parsed, length, checkID(parsed)
	}
	id, err = uri.Unescape(wpath)
	if err != nil {
		return "", 0, fetch.BadURL.With(err)
	}
	return id, length, checkID(id)
}

// checkID rejects invalid ids. "." and ".." are folders in every path, in any
// encoding, so no URL can contain them as an id.
func checkID(id string) error {
	if id == "" || id == "." || id == ".." || len(id) > maxID {
		return fetch.BadURL.Errorf("invalid document id of %d bytes", len(id))
	}
	return nil
}

// parseFields parses numbered fields that end in semicolons. It returns false
// for other text. The last of several fields may lack its semicolon, because
// software that finds URLs in text removes it as punctuation.
func parseFields(s string) (string, bool) {
	var id z3950.DocumentID
	for s != "" {
		field, rest, ok := strings.Cut(s, ";")
		number, text, has := strings.Cut(field, "=")
		if !ok && len(id) == 0 || !has || number == "" || strings.Trim(number, "0123456789") != "" {
			return "", false
		}
		tag, err := strconv.ParseUint(number, 10, 32)
		if err != nil {
			return "", false
		}
		value, err := uri.Unescape(text)
		if err != nil {
			return "", false
		}
		id, s = append(id, z3950.Part{Tag: uint32(tag), Value: []byte(value)}), rest
	}
	return string(id.Append(nil)), len(id) > 0
}

// appendWPath appends the URL form of a document id that parseWPath parses. It
// uses numbered fields if they reproduce the same bytes.
func appendWPath(dst []byte, d document) []byte {
	id, err := z3950.ParseDocumentID([]byte(d.id))
	if err != nil || string(id.Append(nil)) != d.id {
		// "=" and ";" are escaped, so that the id is not parsed as numbered fields.
		return uri.AppendEscape(dst, d.id, uri.Unreserved)
	}
	if d.length > 0 {
		dst = append(strconv.AppendInt(dst, d.length, 10), '/')
	}
	for _, p := range id {
		dst = append(strconv.AppendUint(dst, uint64(p.Tag), 10), '=')
		dst = append(appendValue(dst, string(p.Value)), ';')
	}
	return dst
}

// appendValue escapes a value. It keeps "/", as browsers do, unless the result
// would contain a dot segment, which other software removes from a path.
func appendValue(dst []byte, value string) []byte {
	segments := strings.Split(value, "/")
	slash := "/"
	for _, s := range segments {
		if s == "." || s == ".." {
			slash = "%2F"
		}
	}
	for i, s := range segments {
		if i > 0 {
			dst = append(dst, slash...)
		}
		dst = uri.AppendEscape(dst, s, uri.Unreserved)
	}
	return dst
}
