// Package har reads HTTP archives (HAR 1.2), in which browsers store the
// requests of a page. A file of any size is read in constant memory.
package har

import (
	"bufio"
	"bytes"
	"io"
	"time"
)

// An Entry is a request with its response. All values are from the file.
type Entry struct {
	Started  time.Time // zero if it is missing or invalid
	IP       string    // address of the server, or ""
	Request  Request
	Response Response
	Invalid  bool // a value has the wrong type, or is too long
}

// A Request is the request of an Entry.
type Request struct {
	Method   string  `json:"method"`
	URL      string  `json:"url"`
	Headers  []Field `json:"headers"`
	PostData struct {
		Text string `json:"text"`
	} `json:"postData"`
}

// A Response is the response of an Entry.
type Response struct {
	Status     int // 0 if there was no response
	StatusText string
	Headers    []Field
	Size       int64 // of the body; -1 if unknown
	HasText    bool  // the file contains the body
	Base64     bool  // the text of the body is in base64
}

// A Field is a header field.
type Field struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Read reads a file and calls visit for each entry. Before that, it writes the
// text of the body of the response to body. Read returns an error with the Fault
// fetch.Mismatch or fetch.Truncated if the file is damaged.
func Read(r io.Reader, body io.Writer, visit func(*Entry) error) error {
	s := &scanner{r: bufio.NewReaderSize(r, 64<<10)}
	if mark, _ := s.r.Peek(3); bytes.Equal(mark, []byte("\xef\xbb\xbf")) {
		s.r.Discard(3)
	}
	first, err := s.token()
	if err != nil {
		return err
	}
	found := false
	err = s.object(first, func(name string, first byte) error {
		if name != "log" {
			return s.skip(first)
		}
		return s.object(first, func(name string, first byte) error {
			if name != "entries" {
				return s.skip(first)
			}
			if found || first != '[' {
				return syntax("it has no list of entries, or several")
			}
			found = true
			return s.list(']', func(first byte) error {
				e := &Entry{Response: Response{Size: -1}}
				if err := s.entry(first, body, e); err != nil {
					return err
				}
				return visit(e)
			})
		})
	})
	if err == nil && !found {
		err = syntax("it has no entries")
	}
	return err
}

// value decodes a value, and marks the entry as invalid if this fails.
func (s *scanner) value(first byte, v any, e *Entry) error {
	ok, err := s.small(first, v)
	e.Invalid = e.Invalid || !ok
	return err
}

func (s *scanner) entry(first byte, body io.Writer, e *Entry) error {
	return s.object(first, func(name string, first byte) error {
		switch name {
		case "startedDateTime":
			var text string
			err := s.value(first, &text, e)
			e.Started, _ = time.Parse(time.RFC3339Nano, text)
			return err
		case "serverIPAddress":
			return s.value(first, &e.IP, e)
		case "request":
			return s.value(first, &e.Request, e)
		case "response":
			return s.object(first, func(name string, first byte) error { return s.response(name, first, body, e) })
		}
		return s.skip(first)
	})
}

// response reads a member of a response.
func (s *scanner) response(name string, first byte, body io.Writer, e *Entry) error {
	r := &e.Response
	switch name {
	case "status":
		return s.value(first, &r.Status, e)
	case "statusText":
		return s.value(first, &r.StatusText, e)
	case "headers":
		return s.value(first, &r.Headers, e)
	case "content":
		return s.object(first, func(name string, first byte) error {
			switch {
			case name == "size":
				return s.value(first, &r.Size, e)
			case name == "encoding":
				var coding string
				err := s.value(first, &coding, e)
				r.Base64 = coding == "base64"
				e.Invalid = e.Invalid || coding != "" && !r.Base64
				return err
			case name == "text" && first == '"':
				e.Invalid = e.Invalid || r.HasText
				r.HasText = true
				return s.text(body)
			}
			return s.skip(first)
		})
	}
	return s.skip(first)
}
