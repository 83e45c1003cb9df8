// Package rfc822 reads messages of mail and news: the head (RFC 5322), the parts
// (MIME, RFC 2045 and 2046), and the files that a text holds, encoded by yEnc,
// uuencode or base64.
//
// [ReadHead] and [ParseHead] read a head, [FindNumber] and [FindID] a part.
// [Decode] finds the file in a text: an article, or the Body of a part. All of
// them read streams and bound what they hold in memory. Names in a message are
// chosen by its sender: check them before they name a file.
package rfc822

import (
	"bytes"
	"io"
	"net/mail"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
)

// MaxHead bounds what is read of a head at once.
const MaxHeader = 256 << 10

// ReadHead reads the head of a message with the empty line behind it, or as
// much as MaxHead allows, and returns a reader of what follows. An error of r
// is left for that reader.
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

// headEnd is the end of the first empty line in text, or -1. first tells that
// text begins with a line.
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

// failing is a reader of nothing but an error.
type errReader struct{ err error }

func (f errReader) Read([]byte) (int, error) { return 0, f.err }

// ParseHead reads the fields of a head up to its empty line, unfolded (RFC 5322
// 2.2). A line that is no field is left out, with what is folded under it.
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

// zones maps the zone names of old messages to offsets (RFC 5322 4.3). Package
// time would read most of these names as UTC.
var zoneOffsets = map[string]string{
	"GMT": "+0000", "UT": "+0000", "EST": "-0500", "EDT": "-0400", "CST": "-0600", "CDT": "-0500",
	"MST": "-0700", "MDT": "-0600", "PST": "-0800", "PDT": "-0700",
}

// numericZone writes the zone at the end of a date as an offset.
func replaceZoneName(date string) string {
	i := strings.LastIndexByte(date, ' ') + 1
	if offset, ok := zoneOffsets[strings.ToUpper(date[i:])]; ok {
		return date[:i] + offset
	}
	return date
}

// oldDates are the date formats of RFC 850 and of asctime, common in news before
// RFC 1036.
var oldDateFormats = []string{"Monday, 2-Jan-06 15:04:05 -0700", "Mon Jan _2 15:04:05 2006"}

// Date reads the value of a Date field. It returns the zero time for a value
// that is no date.
func ParseDate(value string) time.Time {
	// Nearly all are like this, and net/mail tries two dozen forms.
	plain, _, _ := strings.Cut(value, " (")
	t, err := time.Parse("Mon, 2 Jan 2006 15:04:05 -0700", plain)
	if err != nil {
		plain = replaceZoneName(strings.TrimSpace(plain))
		t, err = mail.ParseDate(plain)
	}
	for i := 0; err != nil && i < len(oldDateFormats); i++ {
		t, err = time.Parse(oldDateFormats[i], plain)
	}
	if t = t.UTC(); err != nil || t.Year() < 0 || t.Year() > 9999 { // by its zone; nothing could write it
		return time.Time{}
	}
	return t
}
