package record

import (
	"bytes"
	"cmp"
	"crypto/tls"
	"io"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/media"
	"github.com/anyurl/fetch/internal/format/entries"
	"github.com/anyurl/fetch/internal/wire/http1"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/warc"
)

// NewCapture returns the data that is common to all records of an exchange. The
// parameter resp may be nil.
func NewCapture(u uri.URI, started time.Time, resp *fetch.Response) warc.Capture {
	c := warc.Capture{URL: u, Date: started}
	if resp == nil {
		return c
	}
	c.IP = resp.Peer
	proto := strings.ToLower(resp.Proto)
	if proto == "" {
		proto = strings.TrimSuffix(u.Scheme(), "s")
	}
	if proto == "http/2" || proto == "http/2.0" {
		proto = "h2" // its name in TLS, which other crawlers write
	}
	c.Protocols = []string{proto}
	if t := resp.TLS; t != nil {
		c.Protocols = append(c.Protocols, strings.ToLower(strings.ReplaceAll(tls.VersionName(t.Version), " ", "/")))
		c.Cipher = tls.CipherSuiteName(t.CipherSuite)
	}
	return c
}

// ResourceMedia returns the media type for the record of an object. If the
// protocol has no media types, the media type depends on the file name. The
// media type of a listing is marked.
func ResourceMedia(u uri.URI, resp *fetch.Response) string {
	name := cmp.Or(resp.Media, media.ByName(u.Path()), "application/octet-stream")
	return entries.MarkedMedia(name, resp.Kind)
}

// TrailerFields returns the trailer fields of an HTTP response as metadata
// fields with the name "trailer". It returns none if the recorded body keeps
// its transfer coding, because the body then contains them.
func (r *Response) TrailerFields(resp *fetch.Response) (fields fetch.Header) {
	if resp.Trailer == nil || r.KeepsCoding() {
		return nil
	}
	for _, f := range resp.Trailer() {
		fields = append(fields, fetch.Field{Name: "trailer", Value: f.Name + ": " + f.Value})
	}
	return fields
}

// MaskSecrets reads an HTTP request and masks the values of secret header
// fields, because other people may read the archive.
func MaskSecrets(sent io.Reader) ([]byte, error) {
	text, err := io.ReadAll(sent) // small, because this program wrote the request
	var out []byte
	for line := range bytes.Lines(text) {
		if name, _, ok := bytes.Cut(line, []byte(":")); ok && http1.IsSecretField(string(name)) {
			line = append(bytes.Clone(name), ": ***\r\n"...)
		}
		out = append(out, line...)
	}
	return out, err
}
