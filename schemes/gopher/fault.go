package gopher

import (
	"bufio"
	"bytes"
	"io"
	"net/netip"
	"strings"
	"unicode"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/tty"
)

// maxPage is how long an answer may be that is taken for an error page; a
// longer one is a document.
const maxPage = 4 << 10

// complaint recognises an answer that says no, in a protocol that has no
// status, by how servers write it. It returns nil for all else, and reads
// ahead only while the answer looks like one:
//
//   - UMN gopherd answers a plain request with a Gopher+ error;
//   - pygopherd, geomyidae and others send a menu of nothing but an item of
//     type 3 and notes, whatever was asked for;
//   - gophernicus sends "Error: " and one of its messages.
func complaint(r *bufio.Reader) (fault, err error) {
	line, err := peekLine(r, maxPage, "-3E")
	if err != nil || line == nil {
		if err == io.EOF {
			err = nil
		}
		return nil, err
	}
	first := strings.TrimRight(string(line), "\r\n")
	isUMN := first == "--1" || first == "--2"
	isMenu := isErrorItem(first)
	if !isUMN && !isMenu {
		return gophernicusError(first), nil
	}
	skip := len(line)
	page, err := r.Peek(maxPage)
	switch {
	case err != nil && err != io.EOF:
		return nil, err
	case isUMN:
		return umnError(string(page[skip:])), nil
	case err == io.EOF:
		return menuError(page), nil
	}
	return nil, nil
}

// umnError wants a code and, in angle brackets, an administrator on the first
// line of an error text.
func umnError(text string) error {
	first, rest, _ := strings.Cut(text, "\n")
	code, admin, _ := strings.Cut(first, " ")
	if len(code) != 1 || code < "1" || code > "9" || !strings.Contains(admin, "<") {
		return nil
	}
	return plusFault(int(code[0]-'0')).Errorf("server says: %s", tty.Escape(errorText(rest)))
}

// isErrorItem reports whether a line is an item of type 3, and not the first row
// of a table of numbers: it has a text and, where it has a host and a port at
// all, a port and a host that is none but an address or has letters.
func isErrorItem(text string) bool {
	i, _ := parseItem(text)
	if i.kind != '3' || i.name == "" || strings.Count(text, "\t") < 3 {
		return false
	}
	_, isPort := portOf(strings.TrimSpace(i.port))
	_, err := netip.ParseAddr(i.host)
	return i.host == "" && i.port == "" || isPort && (err == nil || strings.ContainsFunc(i.host, unicode.IsLetter))
}

// menuError wants no item beside that of type 3 with which the menu begins.
func menuError(page []byte) error {
	for line := range bytes.Lines(page) {
		if strings.IndexByte("3i.\r\n", line[0]) < 0 {
			return nil
		}
	}
	name, _, _ := strings.Cut(string(page[1:]), "\t")
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
	message, ok := strings.CutPrefix(first, "Error: ")
	if !ok {
		return nil
	}
	for _, known := range gophernicus {
		if strings.HasPrefix(message, known.message) {
			return known.fault.Errorf("server says: %s", tty.Escape(message))
		}
	}
	return nil
}
