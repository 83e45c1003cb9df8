package warc

import (
	"encoding/base64"
	"encoding/json"
	"io"
	"iter"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/wire/http1"
)

// The key of a response to another method than GET depends on the method and
// the body of the request. The functions in this file compute the same key as
// warcio.js and, for forms and JSON, pywb. They convert the body to a query and
// append it to the URL.

const (
	// maxRequest is the maximum size of a request that is read for its key.
	maxRequest = 1 << 20

	// maxBodyQuery is the maximum length of the query in UTF-16 units, as in
	// warcio.js.
	maxBodyQuery = 4096
)

// A requestSummary has the parts of an HTTP request that determine the key of
// its response.
type requestSummary struct {
	method string
	media  string // value of Content-Type
	body   string
}

// readRequest reads the HTTP request in a block.
func readRequest(r io.Reader) (s requestSummary, err error) {
	block, err := io.ReadAll(io.LimitReader(r, maxRequest))
	if err != nil {
		return s, err
	}
	head, body, _ := strings.Cut(string(block), "\r\n\r\n")
	line, fields, _ := strings.Cut(head, "\r\n")
	method, _, ok := strings.Cut(line, " ")
	if !ok || !http1.ValidName(method) {
		return s, nil
	}
	s.method, s.body = method, body
	for f := range strings.SplitSeq(fields, "\r\n") {
		if name, value, ok := strings.Cut(f, ":"); ok && strings.EqualFold(strings.TrimSpace(name), "Content-Type") {
			s.media = strings.TrimSpace(value)
		}
	}
	return s, nil
}

// hasOwnKey reports whether the response has another key than a response to a
// GET request.
func (s *requestSummary) hasOwnKey() bool { return s.method != "" && s.method != "GET" }

// query returns the body as a query.
func (s *requestSummary) query() string {
	media, _, _ := strings.Cut(s.media, ";")
	var query string
	switch media {
	case "application/x-www-form-urlencoded":
		query = decodeUTF8(s.body)
	case "application/json", "text/plain":
		query = jsonQuery(s.body)
	case "multipart/form-data":
		query = formQuery(s.body, s.media)
	default:
		query = "__wb_post_data=" + base64.StdEncoding.EncodeToString([]byte(s.body))
	}
	units := 0
	for i, r := range query {
		if units += utf16.RuneLen(r); units > maxBodyQuery {
			return query[:i]
		}
	}
	return query
}

// decodeUTF8 replaces invalid bytes by U+FFFD.
func decodeUTF8(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	return string([]rune(text))
}

// addRequest adds the method and the body of the request to the key. A search
// for the URL then does not find the line.
func (l *Line) addRequest(s *requestSummary) {
	l.method, l.requestBody = s.method, s.query()
	query, ok := decodeURI(l.requestBody)
	if !ok {
		query = ""
	}
	separator := "?"
	if strings.Contains(l.URL, "?") {
		separator = "&"
	}
	l.Key = escape(Key(l.URL+separator+methodKey+s.method+"&"+query), " ")
}

// summarize returns the parts of req that determine the key of its response. It
// reads at most as much of the body as readRequest.
func summarize(req *fetch.Request) (s requestSummary, err error) {
	m := req.Outgoing
	if m == nil || m.Method == "HEAD" {
		return s, nil
	}
	s.method, s.media = m.Method, req.Header.Get("Content-Type")
	if m.Open == nil {
		return s, nil
	}
	body, err := m.Open()
	if err != nil {
		return s, fetch.LocalError(err)
	}
	defer body.Close()
	text, err := io.ReadAll(io.LimitReader(body, maxRequest))
	s.body = string(text)
	return s, fetch.LocalError(err)
}

// linesOfRequest returns the index lines of the responses to a request. If the
// request has another method than GET, the requests of these responses had the
// same method and the same body.
func (a *Archive) linesOfRequest(req *fetch.Request) iter.Seq2[Line, error] {
	s, err := summarize(req)
	if err == nil && !s.hasOwnKey() {
		return a.linesOf(req.URL)
	}
	return func(yield func(Line, error) bool) {
		if err != nil {
			yield(Line{}, err)
			return
		}
		targets := []string{targetURI(req.URL)}
		if other, ok := otherScheme(targets[0]); ok {
			targets = append(targets, other)
		}
		for _, target := range targets {
			found := false
			key := Line{URL: target}
			key.addRequest(&s)
			for l, err := range a.lookupPrefix(key.Key + " ") {
				found = true
				if !yield(l, err) || err != nil {
					return
				}
			}
			if found {
				return
			}
		}
	}
}

// methodKey is part of the key of a response to another method than GET.
const methodKey = "__wb_method="

// pairs is a list of parameters for a query.
type pairs struct {
	text []byte
	used map[string]int // names of the parameters, and how often each was added
}

// add adds a parameter. If the name is in use, add appends a number.
func (p *pairs) add(name, value string) {
	if p.used == nil {
		p.used = map[string]int{}
	}
	if p.used[name]++; p.used[name] > 1 {
		name += "." + strconv.Itoa(p.used[name]) + "_"
	}
	if len(p.text) > 0 {
		p.text = append(p.text, '&')
	}
	p.text = append(append(append(p.text, formEscape(name)...), '='), formEscape(value)...)
}

// formEscape encodes text as application/x-www-form-urlencoded (WHATWG URL
// standard section 5.2).
func formEscape(text string) string {
	return strings.NewReplacer("%2A", "*", "~", "%7E").Replace(url.QueryEscape(text))
}

// jsonQuery returns the strings, numbers and Boolean values in a JSON text as a
// query. The name of a value is the name of the innermost member. If the text is
// not valid, jsonQuery returns "".
func jsonQuery(text string) string {
	if !json.Valid([]byte(text)) {
		return ""
	}
	var p pairs
	d := json.NewDecoder(strings.NewReader(text))
	var open []byte       // brackets of the open objects and arrays
	names := []string{""} // name of the values on each level
	isName := false       // whether the next string is the name of a member
	for {
		t, err := d.Token()
		if err != nil {
			return string(p.text)
		}
		top := len(names) - 1
		if name, ok := t.(string); ok && isName {
			names[top], isName = name, false
			continue
		}
		switch t := t.(type) {
		case json.Delim:
			if t == '{' || t == '[' {
				open, names = append(open, byte(t)), append(names, names[top])
				isName = t == '{'
				continue
			}
			open, names = open[:len(open)-1], names[:top]
		case nil:
			p.add(names[top], "null")
		case bool:
			p.add(names[top], strconv.FormatBool(t))
		case string:
			if t != "" {
				p.add(names[top], t)
			}
		case float64:
			number, _ := json.Marshal(t) // the same form as in JavaScript
			p.add(names[top], string(number))
		}
		isName = len(open) > 0 && open[len(open)-1] == '{'
	}
}

// formQuery returns the fields of a form with the type multipart/form-data as a
// query. It ignores files and the lines of a value after the first one.
func formQuery(body, contentType string) string {
	_, boundary, ok := strings.Cut(contentType, "boundary=")
	if !ok {
		return ""
	}
	values := map[string]string{}
	var names []string
	for part := range strings.SplitSeq(decodeUTF8(body), boundary) {
		name, value, ok := formField(part)
		if !ok {
			continue
		}
		if _, known := values[name]; !known {
			names = append(names, name)
		}
		values[name] = value
	}
	var p pairs
	for _, name := range names {
		p.add(name, values[name])
	}
	return string(p.text)
}

// formField returns the name and the first line of the value of a form field.
// Like warcio.js, it searches for name="NAME" before an empty line. This is the
// file name of a file without a media type.
func formField(part string) (name, value string, ok bool) {
	for !ok {
		_, rest, found := strings.Cut(part, `name="`)
		if !found {
			return "", "", false
		}
		name, rest, _ = strings.Cut(rest, `"`)
		value, ok = strings.CutPrefix(rest, "\r\n\r\n")
		ok = ok && name != ""
		part = rest
	}
	value, _, _ = strings.Cut(value, "\r\n")
	return name, value, true
}

// decodeURI decodes the percent-encoded characters in text, except reserved
// characters and "#", like the function of this name in JavaScript. The result ok
// is false if an encoding is invalid.
func decodeURI(text string) (decoded string, ok bool) {
	var out []byte
	for len(text) > 0 {
		plain, rest, encoded := strings.Cut(text, "%")
		if out = append(out, plain...); !encoded {
			break
		}
		text = "%" + rest
		var char []byte
		for size := 1; len(char) < size; {
			b, err := octet(text, 3*len(char))
			if err != nil {
				return "", false
			}
			if char = append(char, b); len(char) == 1 {
				size = sizeOfUTF8(b)
			}
		}
		switch {
		case !utf8.Valid(char):
			return "", false
		case strings.Contains(";/?:@&=+$,#", string(char)):
			out = append(out, text[:3]...)
		default:
			out = append(out, char...)
		}
		text = text[3*len(char):]
	}
	return string(out), true
}

// octet decodes the percent-encoded byte at the index i of text.
func octet(text string, i int) (byte, error) {
	if len(text) < i+3 || text[i] != '%' {
		return 0, fetch.BadURL.Errorf("invalid percent-encoding")
	}
	b, err := strconv.ParseUint(text[i+1:i+3], 16, 8)
	return byte(b), err
}

// sizeOfUTF8 returns the number of bytes of a character that begins with b.
func sizeOfUTF8(b byte) int {
	switch {
	case b >= 0xf0:
		return 4
	case b >= 0xe0:
		return 3
	case b >= 0xc0:
		return 2
	}
	return 1
}
