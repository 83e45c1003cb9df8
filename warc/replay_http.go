package warc

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/zlib"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// respondHTTP completes resp from an http answer in body: from head or, where
// that is nil, from its own.
func respondHTTP(req *fetch.Request, resp *fetch.Response, body *replayed, head []byte) error {
	m := newMessage(body.Reader, 32<<10)
	own, err := m.head()
	if err != nil {
		return err
	}
	if head == nil {
		head = own
	}
	body.Reader = m
	resp.Code, resp.Header = parseHead(head)
	if resp.Code == 0 {
		return fetch.Protocol.Errorf("the record holds no http answer")
	}
	resp.Head = head
	resp.Proto, _, _ = strings.Cut(string(head), " ")
	resp.Media = resp.Header.Get("Content-Type")
	resp.Time, _ = http.ParseTime(resp.Header.Get("Last-Modified"))
	resp.Size = -1
	if n, err := strconv.ParseInt(resp.Header.Get("Content-Length"), 10, 64); err == nil && n >= 0 && m.entity.state == atBody {
		resp.Size = n
	}
	resp.Body = body
	switch {
	case resp.Code >= 400:
		resp.Fault = &fetch.Error{Code: resp.Code, Err: statusFault(resp.Code).Errorf("server answered %d", resp.Code)}
	case resp.Code >= 300:
		resp.Location = location(req.URL, resp.Header.Get("Location"))
	}
	return decode(req, resp)
}

// statusFault classes a status (RFC 9110 sections 15.5 and 15.6).
func statusFault(code int) fetch.Fault {
	switch {
	case code == 404 || code == 410:
		return fetch.NotFound
	case code == 401 || code == 407:
		return fetch.Auth
	case code == 408 || code == 425 || code == 429 || code == 500 || 502 <= code && code <= 504:
		return fetch.TryLater
	}
	return fetch.Denied
}

// location resolves a Location field; zero where it is none.
func location(base uri.URI, text string) uri.URI {
	if text == "" {
		return uri.URI{}
	}
	ref, err := uri.ParseReference(escape(text, " \"<>\\^`{|}"))
	if err != nil {
		return uri.URI{}
	}
	u, err := base.WithoutUserinfo().Resolve(ref)
	if err != nil {
		return uri.URI{}
	}
	return u
}

// maxCodings bounds the content codings of one entity.
const maxCodings = 2

// decode takes off the content codings that it knows; with another the entity
// stays as it was sent.
func decode(req *fetch.Request, resp *fetch.Response) error {
	var names []string
	for name := range strings.SplitSeq(strings.ToLower(strings.Join(resp.Header.Values("Content-Encoding"), ",")), ",") {
		switch name = strings.TrimPrefix(strings.TrimSpace(name), "x-"); name {
		case "", "identity":
		case "gzip", "deflate", "zstd":
			names = append(names, name)
		default:
			req.Trace.Notef("content coding %q is not taken off", name)
			return nil
		}
	}
	if len(names) > maxCodings {
		return fetch.Bomb.Errorf("more than %d content codings", maxCodings)
	}
	in := io.Reader(resp.Body)
	for i := len(names) - 1; i >= 0; i-- {
		in = &coding{name: names[i], below: bufio.NewReaderSize(in, 32<<10)}
	}
	if len(names) > 0 {
		resp.Size, resp.Validator = -1, ""
	}
	look := bufio.NewReaderSize(in, 4<<10)
	if isIndex(req.URL, resp, look) {
		resp.Kind = fetch.Menu
	}
	resp.Body = readCloser{look, resp.Body}
	return nil
}

type readCloser struct {
	io.Reader
	io.Closer
}

// coding takes off one content coding, from its first Read on.
type coding struct {
	name  string
	below *bufio.Reader
	from  io.Reader
}

func (c *coding) Read(p []byte) (int, error) {
	if c.from == nil {
		if _, err := c.below.Peek(1); err != nil {
			return 0, err // an empty entity is empty in every coding
		}
		if err := c.open(); err != nil {
			return 0, corrupt(noEOF(err))
		}
	}
	n, err := c.from.Read(p)
	if err != io.EOF {
		return n, corrupt(err)
	}
	// What is below ends with its digest.
	if _, err := io.Copy(io.Discard, c.below); err != nil {
		return n, err
	}
	return n, io.EOF
}

// corrupt classes an error of a decoder; what it met below has a class.
func corrupt(err error) error {
	switch f := fetch.FaultOf(err); {
	case err == nil:
		return nil
	case f != fetch.Internal:
		return f.With(err)
	}
	return fetch.Protocol.With(err)
}

func (c *coding) open() (err error) {
	switch c.name {
	case "gzip":
		c.from, err = gzip.NewReader(c.below)
	case "zstd":
		c.from, err = zstd.NewReader(c.below, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxMemory(16<<20), zstd.WithDecoderMaxWindow(8<<20))
	case "deflate": // RFC 9110 8.4.1.2 means zlib; many servers sent the bare stream
		head, _ := c.below.Peek(2)
		if len(head) == 2 && head[0]&0x0f == 8 && (int(head[0])<<8|int(head[1]))%31 == 0 {
			c.from, err = zlib.NewReader(c.below)
		} else {
			c.from = flate.NewReader(c.below)
		}
	}
	return err
}

// isIndex reports whether the entity is a listing: an index that a server made
// of a directory, or a sitemap.
func isIndex(u uri.URI, resp *fetch.Response, look *bufio.Reader) bool {
	media, _, _ := mime.ParseMediaType(resp.Media)
	var marks []string
	switch {
	case resp.Fault != nil || !resp.Location.IsZero():
	case media == "text/xml" || media == "application/xml":
		marks = []string{"<urlset", "<sitemapindex"}
	case media == "text/html" && strings.HasSuffix(u.Path(), "/"):
		marks = []string{"<title>index of ", "<title>directory listing for "}
	}
	if marks == nil {
		return false
	}
	start, _ := look.Peek(1 << 10) // an error stays for Read
	start = bytes.ToLower(start)
	return bytes.Contains(start, []byte(marks[0])) || bytes.Contains(start, []byte(marks[1]))
}
