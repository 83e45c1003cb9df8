package gateway

import (
	"bytes"
	"io"

	"golang.org/x/net/html"
)

// maxStart is the number of bytes that an inserter buffers before it searches
// them for the <body> tag.
const maxStart = 64 << 10

// An inserter is a writer that inserts text after the <body> tag of an HTML
// page. It does not change a frameset.
type inserter struct {
	out  io.Writer
	text []byte
	head []byte // buffered start of the page, until the text is inserted
	done bool   // the start of the page has been written
}

func (i *inserter) Write(p []byte) (int, error) {
	if i.done {
		return i.out.Write(p)
	}
	i.head = append(i.head, p...)
	if len(i.head) < maxStart {
		return len(p), nil
	}
	return len(p), i.flush()
}

// flush inserts the text into the buffered start of the page, and writes both.
func (i *inserter) flush() error {
	if i.done {
		return nil
	}
	i.done = true
	at := bodyStart(i.head)
	if at < 0 {
		_, err := i.out.Write(i.head)
		return err
	}
	_, err := i.out.Write(bytes.Join([][]byte{i.head[:at], i.text, i.head[at:]}, nil))
	i.head = nil
	return err
}

// bodyStart returns the offset of the first byte after the <body> tag. If there
// is no such tag, it returns the offset after the head, or after the document
// type. It returns -1 if page is a frameset.
func bodyStart(page []byte) int {
	z := html.NewTokenizer(bytes.NewReader(page))
	offset, after := 0, 0
	for {
		kind := z.Next()
		offset += len(z.Raw())
		switch kind {
		case html.ErrorToken:
			return after
		case html.DoctypeToken:
			after = offset
		case html.StartTagToken, html.EndTagToken:
			name, _ := z.TagName()
			switch tag := string(name); {
			case tag == "frameset":
				return -1
			case tag == "body" && kind == html.StartTagToken:
				return offset
			case tag == "html" && kind == html.StartTagToken, tag == "head" && kind == html.EndTagToken:
				after = offset
			}
		}
	}
}
