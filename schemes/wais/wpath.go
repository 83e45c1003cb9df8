package wais

import (
	"strconv"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/z3950"
	"github.com/anyurl/fetch/uri"
)

// A document is what a URL needs to name one.
type document struct {
	kind   string // its WAIS type: TEXT
	id     string // opaque, handed back to the server byte by byte
	length int64  // in bytes, where the URL says; -1: unknown
}

// maxID bounds the id of a document in bytes.
const maxID = 64 << 10

// parseWPath reads the end of a document's URL, still encoded, in any of three
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
				return "", 0, fetch.BadURL.Errorf("length of a document does not fit")
			}
			if n > 0 { // browsers wrote 0 for what they did not know
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

// checkID refuses ids that are none. "." and ".." are the names of folders in
// every path, however they are encoded, so no URL can hold them.
func checkID(id string) error {
	if id == "" || id == "." || id == ".." || len(id) > maxID {
		return fetch.BadURL.Errorf("no document has such an id, of %d bytes", len(id))
	}
	return nil
}

// parseFields reads numbered fields, each ended by a semicolon. It is false
// for anything else. Where there are several the last may lack its end: a text
// around the URL takes it for punctuation of its own.
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

// appendWPath writes what parseWPath reads back: with the length where it is
// known, and with numbered fields where they make the same bytes again.
func appendWPath(dst []byte, d document) []byte {
	id, err := z3950.ParseDocumentID([]byte(d.id))
	if err != nil || string(id.Append(nil)) != d.id {
		// No "=" and no ";" is left, so that it cannot pass for fields.
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

// appendValue leaves "/" as it is, as browsers do, but where it would make a
// dot segment that others take out of a path.
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
