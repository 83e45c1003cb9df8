package importcmd

import (
	"bufio"
	"cmp"
	"encoding/base64"
	"errors"
	"io"
	"math"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"net/textproto"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/warc"
)

const (
	maxHead  = 1 << 20 // bytes of the header of an MHTML file
	maxParts = 100_000 // parts of an MHTML file
)

var errFormat = fetch.Mismatch.Errorf("neither a HAR file nor an MHTML file")

// mhtml converts the parts of an MHTML file (RFC 2557). If the file has no date,
// its parts get the time modified.
func (im *importer) mhtml(r io.Reader, modified time.Time) error {
	limit := &io.LimitedReader{R: r, N: maxHead}
	file, err := mail.ReadMessage(bufio.NewReaderSize(limit, 64<<10))
	limit.N = math.MaxInt64
	if err != nil {
		return errFormat
	}
	head := file.Header
	name, parameters, _ := mime.ParseMediaType(head.Get("Content-Type"))
	if name != "multipart/related" || parameters["boundary"] == "" {
		return errFormat
	}
	page := mhtmlPage{date: modified, seen: map[string]bool{}}
	if date, err := mail.ParseDate(head.Get("Date")); err == nil && date.Year() > 1990 && date.Year() <= 9999 {
		page.date = date
	}
	page.base, _ = uri.Parse(cmp.Or(head.Get("Snapshot-Content-Location"), head.Get("Content-Location")))
	parts := multipart.NewReader(file.Body, parameters["boundary"])
	for n := 0; ; n++ {
		p, err := parts.NextRawPart()
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return fetch.Truncated.Errorf("the MHTML file ends within a part, or has an invalid part: %w", err)
		case n >= maxParts:
			return fetch.TooLarge.Errorf("the MHTML file has more than %d parts", maxParts)
		}
		err = im.skip(im.part(p, &page))
		im.free()
		if err != nil {
			return err
		}
	}
}

// An mhtmlPage describes an MHTML file.
type mhtmlPage struct {
	base uri.URI
	date time.Time
	seen map[string]bool // URLs of the parts
}

// part writes the record of a part.
func (im *importer) part(p *multipart.Part, page *mhtmlPage) error {
	u, err := page.locate(p.Header)
	if err != nil {
		return err
	}
	media, parameters, err := mime.ParseMediaType(p.Header.Get("Content-Type"))
	if err != nil {
		media, parameters = "application/octet-stream", nil
	}
	if strings.HasPrefix(media, "multipart/") {
		return damagedError("nested parts")
	}
	var r io.Reader = p
	switch strings.ToLower(p.Header.Get("Content-Transfer-Encoding")) {
	case "", "7bit", "8bit", "binary":
	case "quoted-printable":
		r = quotedprintable.NewReader(p)
	case "base64":
		r = base64.NewDecoder(base64.StdEncoding, p)
	default:
		return damagedError("unknown encoding of a body")
	}
	if err := im.decode(r); errors.Is(err, io.ErrUnexpectedEOF) {
		if _, err := io.Copy(io.Discard, p); err != nil { // the file itself is truncated
			return fetch.Truncated.Errorf("the MHTML file ends within a part")
		}
		return damagedError("invalid encoding of a body")
	} else if err != nil {
		return err
	}
	object, err := im.body.Reader()
	if err != nil {
		return fetch.LocalError(err)
	}
	page.seen[u.String()] = true
	return im.write(warc.Capture{URL: u, Date: page.date}.Resource(mime.FormatMediaType(media, parameters), object))
}

// locate returns the URL of a part: its location, or else its identifier.
func (page *mhtmlPage) locate(head textproto.MIMEHeader) (u uri.URI, err error) {
	location := strings.TrimSpace(head.Get("Content-Location"))
	if location == "" {
		location = "cid:" + strings.Trim(head.Get("Content-ID"), "<> ")
	}
	if u, err = uri.ParseReference(location); err == nil && u.Scheme() == "" && !page.base.IsZero() {
		u, err = page.base.Resolve(u)
	}
	switch {
	case err != nil:
		return u, damagedError("invalid URL")
	case u.Scheme() == "cid" && u.Path() != "":
	case u.Scheme() != "http" && u.Scheme() != "https" || u.Host() == "":
		return u, damagedError("no http URL")
	}
	if u = u.WithoutFragment(); page.seen[u.String()] {
		return u, damagedError("repeated URL")
	}
	return u, nil
}
