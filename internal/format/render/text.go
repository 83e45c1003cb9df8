package render

import (
	"bufio"
	"bytes"
	"context"
	"html/template"
	"io"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
)

// text writes a text document as a page. Its charset is converted to UTF-8.
func (v *View) text(ctx context.Context, w io.Writer) error {
	if err := execute(w, "text", v.Page); err != nil {
		return err
	}
	problem := ""
	in := bufio.NewReaderSize(decodeText(v.Response.Body, v.Response.Media), 32<<10)
	for {
		chunk, err := readRunes(in)
		if _, err := io.WriteString(w, template.HTMLEscapeString(string(chunk))); err != nil {
			return err
		}
		if err == nil {
			err = ctx.Err()
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			problem = "The text is incomplete. " + v.Problem(err)
			break
		}
	}
	return execute(w, "endtext", listingEnd{Problem: problem, About: v.about(problem == "")})
}

// readRunes reads the next chunk of UTF-8 text, without splitting a character,
// and replaces invalid characters.
func readRunes(in *bufio.Reader) ([]byte, error) {
	if _, err := in.Peek(1); err != nil {
		return nil, err
	}
	chunk, _ := in.Peek(in.Buffered())
	if complete := trimPartial(chunk); len(complete) > 0 && len(complete) < len(chunk) {
		chunk = complete
	}
	text := cleanText(chunk)
	_, err := in.Discard(len(chunk))
	return text, err
}

// cleanText replaces the control characters that HTML does not permit, and bytes
// that are not UTF-8.
func cleanText(text []byte) []byte {
	return bytes.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' && r != '\r' && r != '\f' || r >= 0x7f && r < 0xa0 {
			return utf8.RuneError
		}
		return r
	}, text)
}

// decodeText returns a reader that converts text to UTF-8. Without a charset in
// the media type, the charset is detected.
func decodeText(r io.Reader, contentType string) io.Reader {
	in := bufio.NewReaderSize(r, 4<<10)
	start, _ := in.Peek(1024) // the next Read returns the same error
	encoding, name, certain := charset.DetermineEncoding(start, contentType)
	if name == "utf-8" || !certain && utf8.Valid(trimPartial(start)) {
		return in
	}
	return encoding.NewDecoder().Reader(in)
}

// trimPartial removes an incomplete character at the end of text.
func trimPartial(text []byte) []byte {
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if last := text[len(text)-n:]; utf8.RuneStart(last[0]) {
			if !utf8.FullRune(last) {
				return text[:len(text)-n]
			}
			break
		}
	}
	return text
}
