package links

import (
	"bufio"
	"bytes"
	"io"
	"iter"
	"path"
	"strconv"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/media"
	"github.com/anyurl/fetch/uri"
)

// Limits of Speculate.
const (
	maxScript       = 8 << 20 // bytes of a script that are searched
	maxSpeculations = 1000    // links in a document
	maxLiteral      = 2 << 10 // bytes of a string
)

// CanSpeculate reports whether [Speculate] supports bodies of the given media
// type. These are HTML pages, scripts and JSON documents.
func CanSpeculate(kind string) bool {
	switch kind = media.TrimParameters(kind); kind {
	case "text/javascript", "application/javascript", "application/x-javascript", "text/ecmascript",
		"application/ecmascript", "application/json", "text/html", "application/xhtml+xml":
		return true
	}
	return strings.HasSuffix(kind, "+json")
}

// Speculate returns an iterator over the strings in a script or page that look
// like URLs or paths. The links have the Kind [Speculation]. They may be wrong,
// because Speculate does not run the script. scheme returns the scheme with a
// name. base is the URL against which relative paths are resolved.
//
// Speculate searches at most 8 MiB and returns at most 1,000 links without
// duplicates. If reading body fails, the iterator ends with a zero Link and the
// error.
func Speculate(scheme func(name string) fetch.Scheme, base uri.URI, body io.Reader) iter.Seq2[Link, error] {
	return func(yield func(Link, error) bool) {
		seen := map[uri.URI]bool{}
		w := &walk{scheme: scheme, base: base, visit: func(l Link) (string, bool) {
			if seen[l.URL] {
				return "", true
			}
			seen[l.URL] = true
			return "", yield(l, nil) && len(seen) < maxSpeculations
		}}
		err := w.visitLiterals(io.LimitReader(body, maxScript))
		if err != nil && !w.stopped {
			yield(Link{}, err)
		}
	}
}

// visitLiterals calls visitReference for each quoted string that looks like a
// URL. A quote in a comment or a regular expression does not hide the strings
// after it, because each quote may be the start of a string.
func (w *walk) visitLiterals(in io.Reader) error {
	r := bufio.NewReaderSize(in, 16*maxLiteral)
	for !w.stopped {
		text, err := r.Peek(r.Size())
		safe := len(text) - maxLiteral // a string that starts before safe is completely in text
		if err != nil {
			safe = len(text)
		}
		at := 0
		for at < safe && !w.stopped {
			n := bytes.IndexAny(text[at:safe], "\"'`")
			if n < 0 {
				at = safe
				break
			}
			at += n + 1
			at += w.visitLiteral(text[at:], text[at-1])
		}
		if err != nil {
			if err == io.EOF {
				err = nil
			}
			return err
		}
		if _, err := r.Discard(at); err != nil {
			return err
		}
	}
	return nil
}

// visitLiteral calls visitReference for the string at the start of text if it
// looks like a URL. It returns the length of this string with its final quote,
// or zero.
func (w *walk) visitLiteral(text []byte, quote byte) int {
	end := bytes.IndexByte(text[:min(len(text), maxLiteral-1)], quote)
	if end <= 0 {
		return 0
	}
	literal, ok := unescapeLiteral(string(text[:end]))
	if !ok || !looksLikeURL(literal) {
		return 0
	}
	w.visitReference(literal, Speculation, "script string")
	return end + 1
}

// unescapeLiteral decodes the escapes of a JavaScript string that occur in
// URLs: \/, \xHH and \uHHHH for ASCII characters. It returns false if the
// string has other escapes.
func unescapeLiteral(s string) (string, bool) {
	if !strings.Contains(s, `\`) {
		return s, true
	}
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			out.WriteByte(s[i])
			continue
		}
		digits := 0
		switch rest := s[i+1:]; {
		case rest == "":
			return "", false
		case rest[0] == '/':
			out.WriteByte('/')
		case rest[0] == 'x':
			digits = 2
		case rest[0] == 'u':
			digits = 4
		default:
			return "", false
		}
		i++
		if digits == 0 {
			continue
		}
		if i+digits >= len(s) {
			return "", false
		}
		c, err := strconv.ParseUint(s[i+1:i+1+digits], 16, 16)
		if err != nil || c <= ' ' || c >= 0x7f {
			return "", false
		}
		out.WriteByte(byte(c))
		i += digits
	}
	return out.String(), true
}

// looksLikeURL reports whether a string in a script is probably a URL or a
// path: an absolute URL, a path that starts with "/", "./" or "../", or a name
// with the extension of a document.
func looksLikeURL(s string) bool {
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c >= 0x7f || strings.IndexByte("\"'`<>{}|\\^*()$,;", c) >= 0 {
			return false
		}
	}
	if scheme, rest, ok := strings.Cut(s, "://"); ok {
		return schemeOf(s) != "" && !isPseudoScheme(strings.ToLower(scheme)) && strings.Contains(hostPart(rest), ".")
	}
	if rest, ok := strings.CutPrefix(s, "//"); ok {
		return strings.Contains(strings.Trim(hostPart(rest), "."), ".")
	}
	bare, _, _ := strings.Cut(s, "?")
	bare, _, _ = strings.Cut(bare, "#")
	if strings.HasPrefix(s, "/") || strings.HasPrefix(s, "./") || strings.HasPrefix(s, "../") {
		return hasLetter(bare)
	}
	name := path.Base(bare)
	return schemeOf(s) == "" && len(name) > len(path.Ext(name)) && isDocument(path.Ext(name))
}

// hostPart returns the text before the first slash.
func hostPart(s string) string {
	host, _, _ := strings.Cut(s, "/")
	return host
}

func hasLetter(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return 'a' <= r|0x20 && r|0x20 <= 'z' })
}

// isDocument reports whether ext is a usual extension of documents on web
// servers.
func isDocument(ext string) bool {
	switch strings.ToLower(ext) {
	case ".html", ".htm", ".xhtml", ".shtml", ".php", ".asp", ".aspx", ".jsp", ".cgi", ".txt", ".pdf", ".xml", ".json",
		".css", ".js", ".mjs", ".wasm", ".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".avif", ".ico", ".bmp",
		".mp3", ".mp4", ".webm", ".ogg", ".m3u8", ".mpd", ".swf", ".woff", ".woff2", ".ttf", ".zip", ".gz", ".csv", ".rss":
		return true
	}
	return false
}
