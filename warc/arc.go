package warc

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
)

// maxARCLine is the maximum length of the header of an ARC record that is found
// in a search for records. The header of a record at a known position may have
// maxRecordHead bytes.
const maxARCLine = 8 << 10

// An arcHeader is the header of a record in an ARC file. It is a line with the
// URL, the address of the server, the date, the media type and the length of
// the block. In version 2 of the format, the status code, a checksum, a
// location, the offset and the name of the file precede the length.
type arcHeader struct {
	url, ip, date, media string
	version              string // "1" or "2"
	length               int64  // -1 if the length is invalid
}

// parseARC parses the header of an ARC record. URLs and media types can have
// spaces, so parseARC searches for an address that is followed by a date.
func parseARC(line string) (h arcHeader, ok bool) {
	const maxTokens = 16
	rest := strings.TrimRight(line, "\r\n")
	var after []string // tokens after the date, from the last to the first
	for len(after) < maxTokens {
		i := strings.LastIndexByte(rest, ' ')
		if i < 0 {
			return h, false
		}
		token := rest[i+1:]
		rest = rest[:i]
		if j := strings.LastIndexByte(rest, ' '); j > 0 && len(after) >= 2 && isARCDate(token) && isARCAddress(rest[j+1:]) {
			h.url, h.ip, h.date = rest[:j], rest[j+1:], token
			break
		}
		after = append(after, token)
	}
	if scheme, _, found := strings.Cut(h.url, ":"); !found || scheme == "" || !isLetter(scheme[0]) {
		return h, false
	}
	var err error
	if h.length, err = strconv.ParseInt(after[0], 10, 64); err != nil || h.length < 0 {
		h.length = -1
	}
	media := after[1:]
	h.version = "1"
	if len(after) >= 7 && isDigits(after[2]) && (after[5] == "-" || isDigits(after[5])) {
		media, h.version = after[6:], "2"
	}
	media = slices.Clone(media)
	slices.Reverse(media)
	if h.media = strings.Join(media, " "); h.media == "no-type" || h.media == "-" {
		h.media = ""
	}
	return h, true
}

// isARCDate reports whether token is a date such as YYYYMMDDhhmmss. Some files
// have dates without seconds, or with fractions of a second.
func isARCDate(token string) bool {
	return isDigits(token) && len(token) >= len("YYYYMMDDhhmm") && len(token) <= len("YYYYMMDDhhmmssffff")
}

// isARCAddress reports whether token is the address of a server, or "-" or "0"
// for an unknown address.
func isARCAddress(token string) bool {
	_, err := netip.ParseAddr(token)
	return err == nil || token == "-" || token == "0"
}

func isDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// setARC sets the version, the length and the fields of the header from an ARC
// record. A WARC record with the same content has the same fields. The record has
// no ID. The parameter isMessage reports whether the block begins like an HTTP
// response.
func (h *Header) setARC(line arcHeader, isMessage bool) {
	h.arc, h.Version, h.Length = true, "ARC "+line.version, line.length
	kind, media := Resource, line.media
	name, isInfo := strings.CutPrefix(line.url, "filedesc:")
	isWeb := strings.HasPrefix(line.url, "http:") || strings.HasPrefix(line.url, "https:")
	switch {
	case isInfo:
		kind = Info
	case isWeb && isMessage:
		kind, media = Response, responseMedia
	}
	add := func(name, value string) {
		if value != "" {
			h.Fields = append(h.Fields, fetch.Field{Name: name, Value: value})
		}
	}
	add("WARC-Type", string(kind))
	if isInfo {
		add("WARC-Filename", strings.TrimLeft(name, "/"))
	} else {
		add("WARC-Target-URI", strings.ReplaceAll(line.url, " ", "%20"))
	}
	date, err := time.Parse("20060102150405", (line.date + "00")[:14])
	if err == nil {
		add("WARC-Date", date.Format(time.RFC3339))
	}
	if address, err := netip.ParseAddr(line.ip); err == nil && !address.IsUnspecified() {
		add("WARC-IP-Address", line.ip)
	}
	add("Content-Type", media)
	add("Content-Length", strconv.FormatInt(line.length, 10))
}
