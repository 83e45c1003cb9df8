package gopher

import (
	"bufio"
	"bytes"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/tty"
)

// maxPage is how long an answer may be that is taken for an error page: less
// than any that was seen in the wild needs would be a guess, more would let a
// document pass for one.
const maxPage = 4 << 10

// complaint recognises an answer that says no, in a protocol that has no
// status, by how servers write it. It returns nil for all else, and reads
// ahead only while the answer looks like one:
//
//   - UMN gopherd answers a plain request with a Gopher+ error;
//   - pygopherd, geomyidae and others send a menu of nothing but an item of
//     type 3 and notes, whatever was asked for;
//   - gophernicus sends "Error: " and one of its messages.
func complaint(r *bufio.Reader) error {
	line, err := peekLine(r, maxPage, func(b []byte) bool { return strings.IndexByte("-3E", b[0]) >= 0 })
	if err != nil || line == nil {
		return nil
	}
	first := strings.TrimRight(string(line), "\r\n")
	switch {
	case first == "--1", first == "--2":
		return umnError(r, len(line))
	case line[0] == '3' && strings.Count(first, "\t") >= 3:
		return errorMenu(r, first)
	case strings.HasPrefix(first, "Error: "):
		return gophernicusError(first)
	}
	return nil
}

// umnError looks behind a header of skip bytes for a code and, in angle
// brackets, an administrator.
func umnError(r *bufio.Reader, skip int) error {
	page := peekAll(r)
	first, rest, _ := strings.Cut(string(page[skip:]), "\n")
	code, admin, _ := strings.Cut(first, " ")
	if len(code) != 1 || code < "1" || code > "9" || !strings.Contains(admin, "<") {
		return nil
	}
	return plusFault(int(code[0]-'0')).Errorf("server says: %s", tty.Escape(errorText(rest)))
}

// errorMenu reports the item of type 3 in a menu that has no item beside it.
func errorMenu(r *bufio.Reader, first string) error {
	page := peekAll(r)
	if len(page) >= maxPage {
		return nil
	}
	for line := range bytes.Lines(page) {
		if c := line[0]; c != '3' && c != 'i' && c != '.' && c != '\r' && c != '\n' {
			return nil
		}
	}
	name, _, _ := strings.Cut(first[1:], "\t")
	return fetch.NotFound.Errorf("server says: %s", tty.Escape(name))
}

// gophernicus are the messages of gophernicus 3.1; what it puts behind them
// in brackets is the system's.
var gophernicus = []struct {
	message string
	fault   fetch.Fault
}{
	{"File or directory not found!", fetch.NotFound},
	{"Access denied!", fetch.Denied},
	{"Couldn't execute file!", fetch.Denied},
	{"Refusing to serve HTTP requests!", fetch.Denied},
}

func gophernicusError(first string) error {
	message := strings.TrimPrefix(first, "Error: ")
	for _, known := range gophernicus {
		if strings.HasPrefix(message, known.message) {
			return known.fault.Errorf("server says: %s", tty.Escape(message))
		}
	}
	return nil
}

// peekLine returns the first line, with its end, of at most limit bytes: nil
// where it is longer or ends with the input, and at once where the first bytes
// do not pass hope. It is io.EOF where there is no byte at all.
func peekLine(r *bufio.Reader, limit int, hope func([]byte) bool) ([]byte, error) {
	for n := 1; ; n++ {
		w, err := r.Peek(n)
		if len(w) == 0 {
			return nil, err
		}
		if !hope(w) {
			return nil, nil
		}
		w, _ = r.Peek(r.Buffered())
		if i := bytes.IndexByte(w, '\n'); i >= 0 {
			if i >= limit {
				return nil, nil
			}
			return w[:i+1], nil
		}
		switch n = len(w); {
		case err == io.EOF, n >= limit:
			return nil, nil
		case err != nil:
			return nil, err
		}
	}
}

// peekAll returns the beginning of the answer: maxPage bytes, or less where
// there is no more.
func peekAll(r *bufio.Reader) []byte {
	w, _ := r.Peek(maxPage)
	return w
}

// charset is what the beginning of a text shows of its character set, as a
// parameter of the media type: Gopher does not say it. It is "" where only
// ASCII has come yet. RFC 1436 suggests ISO 8859-1; today's texts are UTF-8.
func charset(r *bufio.Reader) string {
	const utf, latin = "; charset=utf-8", "; charset=iso-8859-1"
	w, _ := r.Peek(r.Buffered())
	seen := ""
	for len(w) > 0 {
		c, size := utf8.DecodeRune(w)
		switch {
		case c != utf8.RuneError || size > 1:
			if c >= utf8.RuneSelf {
				seen = utf
			}
		case utf8.FullRune(w):
			return latin
		default: // cut where the text ends, or where no more has come yet
			if _, err := r.Peek(r.Buffered() + 1); err == nil {
				return charset(r)
			} else if err == io.EOF {
				return latin
			}
			return utf
		}
		w = w[size:]
	}
	return seen
}
