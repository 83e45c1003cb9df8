package gopher

import (
	"bufio"
	"bytes"
	"io"
	"net/netip"
	"strings"
	"unicode"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/tty"
)

// maxErrorPage is the maximum length of an error page, in bytes. A longer
// response is treated as a document.
const maxErrorPage = 4 << 10

// detectError returns the error that a response describes, or nil if the
// response is not an error page. Gopher has no status code, so errors are
// recognized by their text. detectError does not consume input, and waits for
// more input only while the response may be an error page.
//
//   - UMN gopherd answers a plain request with a Gopher+ error.
//   - pygopherd, geomyidae and others send a menu that contains only an item of
//     type 3 and informational text.
//   - gophernicus sends "Error: " and a fixed message.
func detectError(r *bufio.Reader) (fault, err error) {
	line, err := peekLine(r, maxErrorPage, "-3E")
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
	page, err := r.Peek(maxErrorPage)
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

// umnError parses an error message of UMN gopherd. The first line of the
// message must contain an error code and an administrator in angle brackets.
func umnError(text string) error {
	first, rest, _ := strings.Cut(text, "\n")
	code, admin, _ := strings.Cut(first, " ")
	if len(code) != 1 || code < "1" || code > "9" || !strings.Contains(admin, "<") {
		return nil
	}
	return plusFault(int(code[0]-'0')).Errorf("server replied: %s", tty.Escape(errorText(rest)))
}

// isErrorItem reports whether a line is a menu item of type 3, which is an
// error message. A line in a table of numbers may look similar, so the item
// must have a text. A host and a port, if present, must be valid. The host must
// be an IP address or contain a letter.
func isErrorItem(text string) bool {
	i, _ := parseItem(text)
	if i.kind != '3' || i.name == "" || strings.Count(text, "\t") < 3 {
		return false
	}
	_, isPort := portOf(strings.TrimSpace(i.port))
	_, err := netip.ParseAddr(i.host)
	return i.host == "" && i.port == "" || isPort && (err == nil || strings.ContainsFunc(i.host, unicode.IsLetter))
}

// menuError returns the error message of a menu that starts with an error item
// (type 3). It returns nil if the menu also contains items that can be fetched.
func menuError(page []byte) error {
	for line := range bytes.Lines(page) {
		if strings.IndexByte("3i.\r\n", line[0]) < 0 {
			return nil
		}
	}
	name, _, _ := strings.Cut(string(page[1:]), "\t")
	return fetch.NotFound.Errorf("server replied: %s", tty.Escape(name))
}

// gophernicusErrors lists the error messages of gophernicus 3.1. The server
// appends the message of the operating system in parentheses.
var gophernicusErrors = []struct {
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
	for _, known := range gophernicusErrors {
		if strings.HasPrefix(message, known.message) {
			return known.fault.Errorf("server replied: %s", tty.Escape(message))
		}
	}
	return nil
}
