package http

import (
	"net/http"
	"net/textproto"
	"slices"
	"strconv"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/http1"
)

// http1Head returns the response head of x in the form of HTTP/1.
func http1Head(x *exchange) []byte {
	b := append([]byte(x.proto), ' ')
	b = append(strconv.AppendInt(b, int64(x.code), 10), " \r\n"...)
	for _, f := range x.header {
		b = http1.AppendField(b, f.Name, f.Value)
	}
	return append(b, "\r\n"...)
}

// toNetHTTP converts h for net/http. It keeps the case of names, except for
// fields that net/http looks up.
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

// fromNetHTTP returns the fields of in, sorted by name. net/http does not keep
// their order.
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
