// Package dirlist reads directory listings of FTP servers: the facts of MLSD
// (RFC 3659), names alone (NLST), and what LIST brings, for which there is no
// standard: the forms of Unix, of DOS and Windows, EPLF, VMS and NetWare.
//
// [Menu] reads a complete listing, whose media type [MediaType] writes. It skips
// blank lines, headings and totals of LIST ("total 4"). Any other line that is
// no entry becomes an Entry of kind Info. Every Entry has the server's own line
// as Raw.
//
// Names and lines are bytes of strangers. An entry whose name could lead
// elsewhere than into the directory has no URL. What cannot be read as UTF-8 is
// taken for Latin-1, and said to be so; URLs hold the bytes as they came.
package dirlist

import (
	"errors"
	"io"
	"iter"
	"mime"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/line"
	"github.com/anyurl/fetch/uri"
)

const (
	maxLine    = 64 << 10 // bytes
	maxEntries = 1 << 20  // of one listing
)

// A Dialect is a form of listing.
type Dialect string

const (
	MLSD  Dialect = "mlsd"  // facts, a semicolon after each, and a name
	List  Dialect = "list"  // one of those below; each line tells which
	Names Dialect = "names" // a name a line

	Unix    Dialect = "unix"
	DOS     Dialect = "dos"
	EPLF    Dialect = "eplf"
	VMS     Dialect = "vms"
	NetWare Dialect = "netware"
)

// Params are what a reader of a listing must know beside its bytes.
type Params struct {
	Dialect Dialect
	At      time.Time // when the listing was made: dates of LIST have no year
	UTF8    bool      // the server says that its names are UTF-8
}

const mediaType = "text/x-ftp-list"

// MediaType is the media type of a listing, with its parameters.
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

// ParseMediaType reads what MediaType wrote. A listing of an unknown dialect
// is read as List.
func ParseMediaType(media string) (Params, error) {
	name, params, err := mime.ParseMediaType(media)
	if err != nil || name != mediaType {
		return Params{}, fetch.Unsupported.Errorf("not a listing of an FTP server")
	}
	p := Params{Dialect: Dialect(params["dialect"]), UTF8: params["charset"] == "utf-8"}
	p.At, _ = ParseTimeVal(params["at"])
	return p, nil
}

// Menu reads the listing of the directory base. It is the Menu of a Scheme:
// media is what MediaType wrote, and an error ends the sequence.
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
			if e.heading {
				continue
			}
			if placed, err := dir.place(e); !yield(placed, err) || err != nil {
				return
			}
		}
		yield(fetch.Entry{}, fetch.TooLarge.Errorf("listing of more than %d lines", maxEntries))
	}
}

// lines reads a listing line by line. A VMS server breaks the line of a long
// name.
type lines struct {
	reader *line.Reader
	ahead  string // read, but not part of the last entry
	has    bool   // there is one ahead
}

func (l *lines) next() (string, error) {
	if l.has {
		l.has = false
		return l.ahead, nil
	}
	text, _, err := l.reader.ReadLine(maxLine)
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF) && len(text) > 0:
		return string(text), nil // some servers forget the end of the last line
	case errors.Is(err, line.ErrTooLong):
		return "", fetch.Protocol.Errorf("listing: %w", err)
	}
	return string(text), err
}

// A row is what one line says. Its Name is still that of the server, byte for
// byte.
type row struct {
	fetch.Entry
	link    string // the name in the URL, where it differs from Name
	heading bool   // the line describes the listing: no Entry
}

// note keeps what an Entry has no field for.
func (r *row) note(key, value string) {
	if r.Extra == nil {
		r.Extra = map[string]string{}
	}
	r.Extra[key] = value
}

// info is the row for a line that is no entry.
func info(text string) row {
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
		return info(text), nil
	}
	r.Raw = text
	return r, nil
}

// anyEntry reads a line of LIST by what it looks like.
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

// vmsEntry reads a line of a VMS server, or two.
func (l *lines) vmsEntry(text string) row {
	if r, ok := parseVMS(text); ok {
		r.Raw = text
		return r
	}
	if !isVMSName(text) {
		return info(text)
	}
	second, err := l.next()
	if err != nil {
		return info(text)
	}
	if r, ok := parseVMS(text + " " + second); ok {
		r.Raw = text + "\n" + second
		return r
	}
	l.ahead, l.has = second, true
	return info(text)
}

// parseName reads a line of NLST.
func parseName(text string) (row, bool) {
	return row{Entry: fetch.Entry{Name: text, Size: -1}}, text != ""
}
