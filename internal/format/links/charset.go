package links

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"

	"github.com/anyurl/fetch/uri"
)

// maxCharsetHead is the size of the start of a document that may state the
// charset, in bytes. charset.DetermineEncoding reads 1024 bytes.
const maxCharsetHead = 1000

// charsetOf returns the charset that the media type, a meta element or @charset
// states. The parameter head is the start of the document. If the charset is
// UTF-8, UTF-16, unknown or not stated, charsetOf returns nil.
func charsetOf(f form, media string, head []byte) (e encoding.Encoding, name string) {
	switch f {
	case formMarkup, formCSS, formXML:
	default:
		return nil, ""
	}
	if bytes.HasPrefix(head, []byte("\xEF\xBB\xBF")) || strings.HasSuffix(strings.ToLower(media), "charset=utf-8") {
		return nil, ""
	}
	head = head[:min(len(head), maxCharsetHead)]
	if !bytes.Contains(bytes.ToLower(head), []byte("charset")) && !strings.Contains(strings.ToLower(media), "charset") {
		return nil, "" // this saves the allocations of DetermineEncoding
	}
	sample := make([]byte, 0, maxCharsetHead+8)
	for _, b := range head {
		// Other bytes have no meaning in markup, but separate the bytes beside
		// them. A browser finds no meta element in "<\xe9meta".
		sample = append(sample, min(b, 0x7f))
	}
	// Because of the letter, DetermineEncoding returns UTF-8 if no charset is
	// stated.
	e, name, certain := charset.DetermineEncoding(append(sample, "\u00e9 "...), media)
	if label, ok := strings.CutPrefix(string(sample), `@charset "`); ok && f == formCSS && !certain {
		label, _, _ = strings.Cut(label, `"`)
		e, name = charset.Lookup(label)
	}
	switch name {
	case "", "utf-8", "utf-16be", "utf-16le", "replacement", "x-user-defined":
		return nil, name
	}
	return e, name
}

// UTF16Of returns the encoding of a document in UTF-16, or nil for other
// documents. The parameter head is the start of the document, and name is the
// stated charset. The encoding writes a byte order mark. Without it, a browser that
// detects no UTF-16 would read the bytes of other characters as markup.
func UTF16Of(head []byte, name string) encoding.Encoding {
	order := unicode.BigEndian
	switch {
	case bytes.HasPrefix(head, []byte("\xFE\xFF")):
	case bytes.HasPrefix(head, []byte("\xFF\xFE")):
		order = unicode.LittleEndian
	case bytes.IndexByte(head, 0) < 0:
		return nil
	case name == "utf-16be", bytes.HasPrefix(head, []byte("\x00<\x00?")): // browsers detect an XML declaration
	case name == "utf-16le", bytes.HasPrefix(head, []byte("<\x00?\x00")):
		order = unicode.LittleEndian
	default:
		return nil
	}
	return unicode.UTF16(order, unicode.UseBOM)
}

// decode converts bytes of the document to UTF-8.
func (w *walk) decode(text []byte) []byte {
	if !w.raw || isASCII(text) {
		return text
	}
	decoded, err := w.charset.NewDecoder().Bytes(text)
	if err != nil {
		return text
	}
	return decoded
}

// decodeTag returns a tokenizer for the start tag raw in UTF-8. The parameter z
// is the tokenizer that has read raw.
func (w *walk) decodeTag(z *html.Tokenizer, raw []byte) *html.Tokenizer {
	if !w.raw || isASCII(raw) {
		return z
	}
	decoded := html.NewTokenizer(bytes.NewReader(w.decode(raw)))
	switch decoded.Next() {
	case html.StartTagToken, html.SelfClosingTagToken:
		return decoded
	}
	return z
}

func isASCII[T string | []byte](text T) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// encodeQuery converts the query of a reference to the charset of its document
// and percent-encodes the resulting bytes, as browsers do (WHATWG URL,
// percent-encode after encoding). The path and the fragment remain in UTF-8.
func encodeQuery(text string, e encoding.Encoding) string {
	page, query, ok := strings.Cut(text, "?")
	query, fragment, hasFragment := strings.Cut(query, "#")
	if !ok || strings.Contains(page, "#") || isASCII(query) || !utf8.ValidString(query) {
		return text
	}
	out := append([]byte(page), '?')
	encoder := e.NewEncoder() // writes a character that the charset lacks as &#N;
	for query != "" {
		letters := strings.IndexFunc(query, func(r rune) bool { return r >= utf8.RuneSelf })
		if letters < 0 {
			letters = len(query)
		}
		out, query = append(out, query[:letters]...), query[letters:]
		end := strings.IndexFunc(query, func(r rune) bool { return r < utf8.RuneSelf })
		if end < 0 {
			end = len(query)
		}
		encoded, err := encoder.String(query[:end])
		if err != nil {
			return text
		}
		out, query = uri.AppendEscape(out, encoded, uri.QueryChars&^uri.SubDelims), query[end:]
	}
	if hasFragment {
		out = append(append(out, '#'), fragment...)
	}
	return string(out)
}

// appendASCII appends text to dst. It writes non-ASCII characters as numeric
// character references, which have the same meaning in every charset.
func appendASCII(dst []byte, text string) []byte {
	for _, r := range text {
		if r < utf8.RuneSelf {
			dst = append(dst, byte(r))
			continue
		}
		dst = append(strconv.AppendInt(append(dst, "&#"...), int64(r), 10), ';')
	}
	return dst
}
