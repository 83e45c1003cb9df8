package http

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/anyurl/fetch/fetch"
)

// rawHead is every byte before the body where the wire had them, and for
// HTTP/2 what HTTP/1 would have sent.
func (x *exchange) rawHead() []byte {
	if w, ok := x.conn.(*wire); ok {
		return w.head(x)
	}
	if x.head != nil || x.resp.ProtoMajor == 0 {
		return x.head
	}
	var b strings.Builder
	b.WriteString(proto(x.resp) + " " + strconv.Itoa(x.resp.StatusCode) + " \r\n")
	for _, f := range fromHTTP(x.resp.Header) {
		b.WriteString(f.Name + ": " + f.Value + "\r\n")
	}
	b.WriteString("\r\n")
	return []byte(b.String())
}

// trailers are the fields behind the body, once it has ended.
func (x *exchange) trailers() fetch.Header {
	raw := x.trailer
	switch w, ok := x.conn.(*wire); {
	case ok:
		raw = w.trailer(x)
	case x.resp.ProtoMajor == 2:
		return fromHTTP(x.resp.Trailer)
	}
	if r, ok := x.resp.Body.(*oldReader); ok {
		raw = r.trailer
	}
	h, _ := parseFields(string(raw))
	return h
}

func proto(resp *http.Response) string {
	if resp.ProtoMajor == 2 {
		return "HTTP/2"
	}
	return resp.Proto
}

// fields reads the header in the order and spelling of the raw head, which
// net/http has accepted. HTTP/2's order is lost in net/http.
func (x *exchange) fields(raw []byte, t *fetch.Trace) fetch.Header {
	if x.resp.ProtoMajor != 1 {
		return fromHTTP(x.resp.Header)
	}
	h, folded := parseFields(lastHead(string(raw)))
	if folded {
		t.Notef("header field folded over lines")
	}
	return h
}

// parseFields reads lines of fields in their order and spelling, and tells
// whether one went over several.
func parseFields(text string) (h fetch.Header, folded bool) {
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSuffix(line, "\r")
		if line == "" {
			continue
		}
		if line[0] == ' ' || line[0] == '\t' { // obs-fold: RFC 9112 5.2
			if len(h) > 0 {
				folded = true
				h[len(h)-1].Value += " " + strings.Trim(line, " \t")
			}
			continue
		}
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			continue
		}
		h = append(h, fetch.Field{Name: strings.TrimRight(name, " \t"), Value: strings.Trim(value, " \t")})
	}
	return h, folded
}

// lastHead is the fields of the last response in raw: interim ones come
// before it.
func lastHead(raw string) string {
	raw = strings.TrimRight(raw, "\r\n")
	for _, blank := range []string{"\n\r\n", "\n\n"} {
		if i := strings.LastIndex(raw, blank); i >= 0 {
			raw = raw[i+len(blank):]
		}
	}
	_, fields, _ := strings.Cut(raw, "\n")
	return fields
}

func fromHTTP(in http.Header) fetch.Header {
	var h fetch.Header
	for name, values := range in {
		for _, value := range values {
			h = append(h, fetch.Field{Name: name, Value: value})
		}
	}
	slices.SortStableFunc(h, func(a, b fetch.Field) int { return strings.Compare(a.Name, b.Name) })
	return h
}
