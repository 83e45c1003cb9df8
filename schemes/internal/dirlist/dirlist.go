// Package dirlist parses directory listings of FTP servers. It reads MLSD
// listings (RFC 3659), name lists (NLST) and LIST listings. The format of LIST
// is not standardized, so the package recognizes the formats of Unix, DOS and
// Windows, EPLF, VMS and NetWare.
//
// [Menu] parses a complete listing with a media type that [MediaType] returned.
// It skips blank lines, headings and totals of LIST, such as "total 4". It also
// skips the names "." and "..", which are the directory itself and its parent.
// Any other line that is not an entry becomes an Entry of kind Info. The field
// Raw of each Entry contains the line that the server sent.
//
// Names and lines are untrusted input. An entry with a name that could lead
// outside the directory has no URL. Names that are not valid UTF-8 are
// converted from ISO 8859-1 and marked in Extra. URLs contain the original
// bytes.
package dirlist

import (
	"errors"
	"io"
	"iter"
	"mime"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/wire/line"
	"github.com/anyurl/fetch/uri"
)

const (
	maxLine    = 64 << 10 // bytes
	maxEntries = 1 << 20  // entries in a listing
)

// A Dialect is a listing format.
type Dialect string

const (
	MLSD  Dialect = "mlsd"  // facts and a name on each line (RFC 3659)
	List  Dialect = "list"  // any of the LIST dialects below, recognized line by line
	Names Dialect = "names" // a name on each line

	Unix    Dialect = "unix"
	DOS     Dialect = "dos"
	EPLF    Dialect = "eplf"
	VMS     Dialect = "vms"
	NetWare Dialect = "netware"
)

// Params contains the format of a listing and other properties that affect its
// parsing.
type Params struct {
	Dialect Dialect
	At      time.Time // time of the listing, which determines the year of dates in LIST
	UTF8    bool      // the server announced UTF-8 names
}

const mediaType = "text/x-ftp-list"

// MediaType returns the media type of a listing with the given properties.
func MediaType(p Params) string {
	params := map[string]string{"dialect": string(p.Dialect)}
	if !p.At.IsZero() {
		params["at"] = p.At.UTC().Format(TimeVal)
	}
	if p.UTF8 {
		params["charset"] = "utf-8"
	}
	return mime.FormatMediaType(mediaType, params)
}

// ParseMediaType parses a media type that [MediaType] returned. A listing with
// an unknown dialect is parsed as [List].
func ParseMediaType(media string) (Params, error) {
	name, params, err := mime.ParseMediaType(media)
	if err != nil || name != mediaType {
		return Params{}, fetch.Unsupported.Errorf("media type is not an FTP directory listing")
	}
	p := Params{Dialect: Dialect(params["dialect"]), UTF8: params["charset"] == "utf-8"}
	p.At, _ = ParseTimeVal(params["at"])
	return p, nil
}

// Menu parses the listing of the directory base and returns its entries. The
// media type must be a result of [MediaType]. An error ends the sequence. Menu
// is a function for the field Menu of a [fetch.Scheme].
func Menu(base uri.URI, media string, r io.Reader) iter.Seq2[fetch.Entry, error] {
	return func(yield func(fetch.Entry, error) bool) {
		params, err := ParseMediaType(media)
		var dir directory
		if err == nil {
			dir, err = newDirectory(base)
		}
		if err != nil {
			yield(fetch.Entry{}, err)
			return
		}
		lines := &lines{reader: line.NewReader(r)}
		for range maxEntries {
			e, err := lines.entry(params)
			if err == io.EOF {
				return
			}
			if err != nil {
				yield(fetch.Entry{}, err)
				return
			}
			if e.heading || e.isSelfOrParent() {
				continue
			}
			if entry, err := dir.entry(e); !yield(entry, err) || err != nil {
				return
			}
		}
		yield(fetch.Entry{}, fetch.TooLarge.Errorf("listing exceeds %d lines", maxEntries))
	}
}

// lines reads a listing line by line and can unread one line. Unreading is
// required because a VMS server splits the entry of a long name into two lines.
type lines struct {
	reader *line.Reader
	ahead  string // line that next returns again
	has    bool   // ahead is valid
}

func (l *lines) next() (string, error) {
	if l.has {
		l.has = false
		return l.ahead, nil
	}
	text, _, err := l.reader.ReadLine(maxLine)
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF) && len(text) > 0:
		return string(text), nil // some servers omit the end of the last line
	case errors.Is(err, line.ErrTooLong):
		return "", fetch.Protocol.Errorf("listing: %w", err)
	}
	return string(text), err
}

// A row is a parsed line of a listing. Its Name contains the bytes that the
// server sent.
type row struct {
	fetch.Entry
	link    string // name in the URL if it differs from Name
	heading bool   // the line describes the listing and is not an entry
}

// isSelfOrParent reports whether the row describes the directory itself or its
// parent, which LIST with the option -a and MLSD list.
func (r *row) isSelfOrParent() bool {
	return (r.Name == "." || r.Name == "..") && strings.HasSuffix(r.Raw, r.Name)
}

// addExtra stores a value in Extra.
func (r *row) addExtra(key, value string) {
	if r.Extra == nil {
		r.Extra = map[string]string{}
	}
	r.Extra[key] = value
}

// infoRow returns the row for a line that does not describe a file.
func infoRow(text string) row {
	return row{Entry: fetch.Entry{Name: text, Kind: fetch.Info, Size: -1, Raw: text}}
}

func (l *lines) entry(p Params) (row, error) {
	text, err := l.next()
	if err != nil {
		return row{}, err
	}
	var r row
	var ok bool
	if p.Dialect != MLSD && p.Dialect != Names && isHeading(text) {
		return row{heading: true}, nil
	}
	switch p.Dialect {
	case MLSD:
		r, ok = parseFacts(text)
	case Names:
		r, ok = parseName(text)
	case Unix, NetWare:
		r, ok = parseUnix(text, p.At)
	case DOS:
		r, ok = parseDOS(text)
	case EPLF:
		r, ok = parseEPLF(text)
	case VMS:
		return l.vmsEntry(text), nil
	default:
		return l.anyEntry(text, p), nil
	}
	if !ok {
		return infoRow(text), nil
	}
	r.Raw = text
	return r, nil
}

// anyEntry parses a line of a LIST response in the first format that matches.
func (l *lines) anyEntry(text string, p Params) row {
	for _, parse := range []func(string) (row, bool){
		parseEPLF,
		parseDOS,
		func(s string) (row, bool) { return parseUnix(s, p.At) },
	} {
		if r, ok := parse(text); ok {
			r.Raw = text
			return r
		}
	}
	return l.vmsEntry(text)
}

// vmsEntry parses an entry of a VMS listing, which has one or two lines.
func (l *lines) vmsEntry(text string) row {
	if r, ok := parseVMS(text); ok {
		r.Raw = text
		return r
	}
	if !isVMSName(text) {
		return infoRow(text)
	}
	second, err := l.next()
	if err != nil {
		return infoRow(text)
	}
	if r, ok := parseVMS(text + " " + second); ok {
		r.Raw = text + "\n" + second
		return r
	}
	l.ahead, l.has = second, true
	return infoRow(text)
}

// parseName parses a line of an NLST listing, which is a file name.
func parseName(text string) (row, bool) {
	return row{Entry: fetch.Entry{Name: text, Size: -1}}, text != ""
}
