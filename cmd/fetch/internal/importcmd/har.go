package importcmd

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/netip"
	"strconv"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/format/har"
	"github.com/anyurl/fetch/internal/wire/http1"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/warc"
)

// har converts the entries of a HAR file.
func (im *importer) har(r io.Reader) error {
	return har.Read(r, im.text, func(e *har.Entry) error {
		defer im.free()
		return im.skip(im.entry(e))
	})
}

// entry writes the records of an entry.
func (im *importer) entry(e *har.Entry) error {
	u, err := fetch.ParseURL(e.Request.URL)
	q, r := &e.Request, &e.Response
	empty := q.Method == "HEAD" || r.Status == 204 || r.Status/100 == 3 || r.Size == 0
	switch {
	case e.Invalid:
		return damagedError("invalid values")
	case err != nil || u.Scheme() != "http" && u.Scheme() != "https" || u.Host() == "":
		return damagedError("no http URL")
	case r.Status == 304:
		return damagedError("not modified")
	case r.Status < 200 || r.Status > 599 || !http1.ValidName(q.Method):
		return damagedError("no response")
	case e.Started.IsZero() || e.Started.Year() < 1990 || e.Started.Year() > 9999:
		return damagedError("no date")
	case !r.HasText && !empty:
		return damagedError("no body")
	}
	if err := im.decodeBody(r); err != nil {
		return err
	}
	if _, err := im.block.Write(http1.DecodedHead(responseHead(r), im.body.Size())); err != nil {
		return fetch.LocalError(err)
	}
	body, err := im.body.Reader()
	if err == nil {
		_, err = io.Copy(im.block, body)
	}
	if err != nil {
		return fetch.LocalError(err)
	}
	block, err := im.block.Reader()
	if err != nil {
		return fetch.LocalError(err)
	}
	c := warc.Capture{URL: u, Date: e.Started}
	c.IP, _ = netip.ParseAddr(strings.Trim(e.IP, "[]"))
	response := c.Response(block)
	if !empty && isCut(r, im.body.Size()) {
		response.Truncated = warc.TruncatedByLength
		im.cut++
	}
	return im.write(response, c.Request(strings.NewReader(requestText(q, u))))
}

// isCut reports whether a body of n bytes is shorter than the one that the browser
// received. Browsers limit the size of the bodies in a HAR file. A text in UTF-8
// has no byte order mark, and is shorter than in some other charsets. Firefox
// writes the size of the body with its content coding, which lengthens a short
// body.
func isCut(r *har.Response, n int64) bool {
	for f := range lines(r.Headers) {
		if strings.EqualFold(f.Name, "Content-Encoding") && !strings.EqualFold(f.Value, "identity") {
			n += n/1000 + 64
		}
	}
	if r.Base64 {
		return n < r.Size
	}
	for f := range lines(r.Headers) {
		if strings.EqualFold(f.Name, "Content-Type") {
			_, parameters, _ := mime.ParseMediaType(f.Value)
			charset := strings.ToLower(parameters["charset"])
			if strings.HasPrefix(charset, "utf-16") || strings.HasPrefix(charset, "utf-32") || strings.HasPrefix(charset, "iso-2022-") {
				return false
			}
		}
	}
	return n < r.Size-int64(len("\ufeff"))
}

// decodeBody decodes the text of a body.
func (im *importer) decodeBody(r *har.Response) error {
	text, err := im.text.Reader()
	if err != nil {
		return fetch.LocalError(err)
	}
	if !r.Base64 {
		return im.decode(text)
	}
	if err = im.decode(base64.NewDecoder(base64.StdEncoding, text)); errors.Is(err, io.ErrUnexpectedEOF) {
		return damagedError("invalid encoding of a body")
	}
	return err
}

// responseHead returns the head of a response. The file has the body without its
// content coding, and texts in UTF-8.
func responseHead(r *har.Response) []byte {
	status := strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7f {
			return ' '
		}
		return c
	}, r.StatusText)
	b := fmt.Appendf(nil, "HTTP/1.1 %d %s\r\n", r.Status, status)
	for f := range lines(r.Headers) {
		switch {
		case strings.EqualFold(f.Name, "Content-Encoding"):
			f.Name = http1.OriginalPrefix + f.Name
		case strings.EqualFold(f.Name, "Content-Type") && r.HasText && !r.Base64:
			f.Value = inUTF8(f.Value)
		}
		b = http1.AppendField(b, f.Name, f.Value)
	}
	return append(b, "\r\n"...)
}

// inUTF8 replaces the charset of a media type by UTF-8.
func inUTF8(value string) string {
	name, parameters, err := mime.ParseMediaType(value)
	if err != nil || parameters["charset"] == "" && !strings.HasPrefix(name, "text/") {
		return value
	}
	parameters["charset"] = "utf-8"
	return mime.FormatMediaType(name, parameters)
}

// lines returns the valid header fields. Browsers join the values of Set-Cookie
// with line feeds.
func lines(all []har.Field) func(yield func(har.Field) bool) {
	return func(yield func(har.Field) bool) {
		for _, f := range all {
			for value := range strings.SplitSeq(f.Value, "\n") {
				value = http1.Trim(value)
				if http1.ValidName(f.Name) && !http1.HasControl(value) && !yield(har.Field{Name: f.Name, Value: value}) {
					return
				}
			}
		}
	}
}

// requestText returns a request with its body. The values of secret fields are
// masked, because other people may read the archive.
func requestText(q *har.Request, u uri.URI) string {
	target := u.Path()
	if target == "" {
		target = "/"
	}
	if query, ok := u.Query(); ok {
		target += "?" + query
	}
	host := u.Host()
	if p, ok := u.Port(); ok && p != "" {
		host += ":" + p
	}
	b := http1.AppendField(fmt.Appendf(nil, "%s %s HTTP/1.1\r\n", q.Method, target), "Host", host)
	for f := range lines(q.Headers) {
		bare := true
		switch strings.ToLower(f.Name) {
		case "host", "content-length", "transfer-encoding", "trailer":
			continue
		case "referer":
			f.Value, bare = http1.Referer(f.Value)
		}
		if !bare || http1.IsSecretField(f.Name) {
			f.Value = "***"
		}
		b = http1.AppendField(b, f.Name, f.Value)
	}
	if q.PostData.Text != "" {
		b = http1.AppendField(b, "Content-Length", strconv.Itoa(len(q.PostData.Text)))
	}
	return string(b) + "\r\n" + q.PostData.Text
}
