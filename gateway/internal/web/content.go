package web

import (
	"bufio"
	"io"
	"strings"

	"golang.org/x/net/html/charset"
	"golang.org/x/net/http/httpguts"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/media"
	"github.com/anyurl/fetch/internal/format/links"
)

// ContentType returns a valid value of Content-Type. A browser could read an
// invalid media type, such as a list, differently from this server.
func ContentType(kind string) string {
	bare := media.TrimParameters(kind)
	switch top, sub, _ := strings.Cut(bare, "/"); {
	case !httpguts.ValidHeaderFieldName(top) || !httpguts.ValidHeaderFieldName(sub): // they must be tokens
		return "application/octet-stream"
	case strings.Contains(kind, ","):
		return bare
	}
	return kind
}

// withOneCharset returns a media type whose only parameter is the first charset
// of kind. Browsers and mime.ParseMediaType interpret repeated and malformed
// parameters differently.
func withOneCharset(kind string) string {
	bare, parameters, _ := strings.Cut(kind, ";")
	for p := range strings.SplitSeq(parameters, ";") {
		name, value, _ := strings.Cut(p, "=")
		value = strings.Trim(value, " \t\"'")
		if strings.EqualFold(strings.TrimSpace(name), "charset") && httpguts.ValidHeaderFieldName(value) { // a token
			return bare + "; charset=" + value
		}
	}
	return bare
}

// A readCloser reads from one value and closes another one.
type readCloser struct {
	io.Reader
	io.Closer
}

// DecodeHTML returns the body of an HTML page. It converts UTF-16 and
// ISO-2022-JP to UTF-8, because bytes of other characters can look like markup
// there. A browser and links.Rewrite thus find the same markup.
func DecodeHTML(resp *fetch.Response) io.ReadCloser {
	in := bufio.NewReaderSize(resp.Body, 4<<10)
	start, _ := in.Peek(1024) // the next Read returns the same error
	resp.Media = withOneCharset(resp.Media)
	encoding, name, _ := charset.DetermineEncoding(start, resp.Media)
	if wide := links.UTF16Of(start, name); wide != nil {
		encoding = wide
	} else if !strings.HasPrefix(name, "utf-16") && name != "iso-2022-jp" {
		return readCloser{in, resp.Body}
	}
	resp.Media = media.TrimParameters(resp.Media) + "; charset=utf-8"
	return readCloser{encoding.NewDecoder().Reader(in), resp.Body}
}
