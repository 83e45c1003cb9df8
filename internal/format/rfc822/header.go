// Package rfc822 parses mail and news messages. It parses headers (RFC 5322)
// and MIME parts (RFC 2045, RFC 2046), and decodes files in yEnc, uuencode or
// base64.
//
// [ReadHeader] reads a header and [ParseHeader] parses it. [FindNumber] and
// [FindID] find a part of a message. [Decode] finds an encoded file in an
// article or in the Body of a part.
//
// All functions read streams and use a limited amount of memory. File names in
// a message are chosen by its sender, so callers must validate a name before
// they create a file.
package rfc822

import (
	"bytes"
	"io"
	"net/mail"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
)

// MaxHeader is the maximum length of a message header in bytes.
const MaxHeader = 256 << 10

// ReadHeader reads the header of a message up to and including the first empty
// line. It reads at most MaxHeader bytes. It returns the header and a reader
// for the rest of the message. If r fails, the returned reader returns the
// error.
func ReadHeader(r io.Reader) (head []byte, rest io.Reader) {
	buf := make([]byte, 0, 4<<10)
	for len(buf) < MaxHeader {
		if len(buf) == cap(buf) {
			buf = append(make([]byte, 0, 2*cap(buf)), buf...)
		}
		seen := max(len(buf)-2, 0)
		n, err := r.Read(buf[len(buf):min(cap(buf), MaxHeader)])
		buf = buf[:len(buf)+n]
		if end := headerEnd(buf[seen:], seen == 0); end >= 0 {
			end += seen
			rest = io.MultiReader(bytes.NewReader(buf[end:]), r)
			if err != nil {
				rest = io.MultiReader(bytes.NewReader(buf[end:]), errReader{err})
			}
			return buf[:end:end], rest
		}
		if err != nil {
			return buf, errReader{err}
		}
	}
	return buf, r
}

// headerEnd returns the offset after the first empty line in text, or -1 if
// text has no empty line. If first is true, text starts at the beginning of a
// line.
func headerEnd(text []byte, first bool) int {
	for at := 0; ; first = false {
		if !first {
			i := bytes.IndexByte(text[at:], '\n')
			if i < 0 {
				return -1
			}
			at += i + 1
		}
		switch rest := text[at:]; {
		case bytes.HasPrefix(rest, []byte("\n")):
			return at + 1
		case bytes.HasPrefix(rest, []byte("\r\n")):
			return at + 2
		}
	}
}

// An errReader is an io.Reader whose Read always returns err.
type errReader struct{ err error }

func (f errReader) Read([]byte) (int, error) { return 0, f.err }

// ParseHeader parses header fields up to the first empty line. It joins folded
// lines (RFC 5322 2.2.3) and ignores malformed fields.
func ParseHeader(head []byte) fetch.Header {
	var h fetch.Header
	var value []byte
	inside := false
	end := func() {
		if inside {
			h[len(h)-1].Value = string(bytes.TrimSpace(value))
		}
	}
	for text := range bytes.Lines(head) {
		text = bytes.TrimRight(text, "\r\n")
		if len(text) == 0 {
			break
		}
		if folded := bytes.TrimLeft(text, " \t"); len(folded) < len(text) {
			value = append(append(value, ' '), folded...)
			continue
		}
		end()
		name, first, ok := bytes.Cut(text, []byte(":"))
		if inside = ok && len(name) > 0 && !bytes.ContainsAny(name, " \t"); inside {
			h = append(h, fetch.Field{Name: string(name)})
			value = append(value[:0], first...)
		}
	}
	end()
	return h
}

// zoneOffsets maps obsolete time zone names to offsets (RFC 5322 4.3). Package
// time does not support these names.
var zoneOffsets = map[string]string{
	"GMT": "+0000", "UT": "+0000", "EST": "-0500", "EDT": "-0400", "CST": "-0600", "CDT": "-0500",
	"MST": "-0700", "MDT": "-0600", "PST": "-0800", "PDT": "-0700",
}

// replaceZoneName replaces an obsolete time zone name at the end of date with
// its numeric offset.
func replaceZoneName(date string) string {
	i := strings.LastIndexByte(date, ' ') + 1
	if offset, ok := zoneOffsets[strings.ToUpper(date[i:])]; ok {
		return date[:i] + offset
	}
	return date
}

// oldDateFormats are the date formats of RFC 850 and of the C function asctime.
// They are common in old news articles.
var oldDateFormats = []string{"Monday, 2-Jan-06 15:04:05 -0700", "Mon Jan _2 15:04:05 2006"}

// ParseDate parses the value of a Date header field. If the date is invalid,
// ParseDate returns the zero time.
func ParseDate(value string) time.Time {
	// ParseDate first tries the format of almost all dates, because time.Parse
	// is faster than net/mail.
	plain, _, _ := strings.Cut(value, " (")
	t, err := time.Parse("Mon, 2 Jan 2006 15:04:05 -0700", plain)
	if err != nil {
		plain = replaceZoneName(strings.TrimSpace(plain))
		t, err = mail.ParseDate(plain)
	}
	for i := 0; err != nil && i < len(oldDateFormats); i++ {
		t, err = time.Parse(oldDateFormats[i], plain)
	}
	if t = t.UTC(); err != nil || t.Year() < 0 || t.Year() > 9999 { // such years do not fit in RFC 3339
		return time.Time{}
	}
	return t
}
