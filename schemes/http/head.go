package http

import (
	"net/http"
	"net/textproto"
	"slices"
	"strconv"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/wire/http1"
)

// http1Head formats the head of an HTTP/2 response as an HTTP/1 response head.
// Field names are in lower case, as in HTTP/2 (RFC 9113 section 8.2.1).
func http1Head(x *exchange) []byte {
	b := append([]byte(x.proto), ' ')
	b = append(strconv.AppendInt(b, int64(x.code), 10), " \r\n"...)
	for _, f := range x.header {
		b = http1.AppendField(b, strings.ToLower(f.Name), f.Value)
	}
	return append(b, "\r\n"...)
}

// toNetHTTP converts h to an http.Header. It keeps the letter case of field
// names, except for fields that net/http itself reads, such as Range.
func toNetHTTP(h fetch.Header) http.Header {
	out := http.Header{}
	for _, f := range h {
		name := f.Name
		switch canonical := textproto.CanonicalMIMEHeaderKey(name); canonical {
		case "User-Agent", "Connection", "Range":
			name = canonical
		}
		out[name] = append(out[name], f.Value)
	}
	if _, ok := out["User-Agent"]; !ok {
		out["User-Agent"] = []string{""} // otherwise net/http adds a default value
	}
	return out
}

// fromNetHTTP converts an http.Header to a list of fields that is sorted by
// name. An http.Header does not store the order of the fields.
func fromNetHTTP(in http.Header) fetch.Header {
	var h fetch.Header
	for name, values := range in {
		for _, value := range values {
			h = append(h, fetch.Field{Name: name, Value: value})
		}
	}
	slices.SortStableFunc(h, func(a, b fetch.Field) int { return strings.Compare(a.Name, b.Name) })
	return h
}
