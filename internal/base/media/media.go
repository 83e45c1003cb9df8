// Package media determines the media type of an object for which the server did
// not send one, such as a local file.
//
// TypeOf is the main function. The package has its own table of file
// extensions, because the table of package mime depends on the machine.
package media

import (
	"net/http"
	"path"
	"strings"
	"unicode/utf8"
)

// SniffLen is the maximum number of bytes that Sniff examines.
const SniffLen = 512

// TypeOf returns the media type for the extension of name. If the extension is
// unknown, TypeOf returns the type detected from prefix, the first bytes of the
// object. It returns "" if both are unknown.
func TypeOf(name string, prefix []byte) string {
	if t := ByName(name); t != "" {
		return t
	}
	return Sniff(prefix)
}

// TrimParameters returns the text before the parameters of a media type, in
// lower case and without surrounding spaces. It does not check the media type.
func TrimParameters(text string) string {
	base, _, _ := strings.Cut(text, ";")
	return strings.ToLower(strings.TrimSpace(base))
}

// ByName returns the media type for the extension of name, or "". The type has
// no charset parameter.
func ByName(name string) string {
	dot := strings.LastIndexByte(name, '.')
	if dot <= 0 || name[dot-1] == '/' || dot+1 == len(name) || len(name)-dot > 16 {
		return ""
	}
	return byExtension[strings.ToLower(name[dot+1:])]
}

// Sniff detects the media type of an object from its first bytes (WHATWG MIME
// Sniffing). It returns "" if the type is unknown. A prefix shorter than
// SniffLen is treated as the complete object. Text has a charset parameter only
// if it can be UTF-8.
func Sniff(prefix []byte) string {
	if len(prefix) == 0 {
		return ""
	}
	prefix = prefix[:min(len(prefix), SniffLen)]
	t := http.DetectContentType(prefix)
	bare, charset, _ := strings.Cut(t, ";")
	switch {
	case bare == "application/octet-stream":
		return ""
	case strings.HasSuffix(charset, "utf-8") && !validUTF8(prefix):
		return bare
	}
	return t
}

// validUTF8 reports whether text is UTF-8. The last character may be incomplete
// if text has SniffLen bytes.
func validUTF8(text []byte) bool {
	for i := SniffLen - utf8.UTFMax + 1; i < len(text); i++ {
		if !utf8.FullRune(text[i:]) {
			text = text[:i]
		}
	}
	return utf8.Valid(text)
}

// IsCompressed reports whether a file such as file.tar.gz is compressed itself.
// Its content coding then belongs to the file. The parameter mediaType may be
// "".
func IsCompressed(mediaType, name string) bool {
	bare := TrimParameters(mediaType)
	switch {
	case strings.HasPrefix(bare, "text/html"), strings.HasPrefix(bare, "application/xhtml"), bare == "image/svg+xml":
		return false
	case strings.Contains(bare, "gzip"), strings.Contains(bare, "zstd"), strings.Contains(bare, "compress"):
		return true
	}
	switch strings.ToLower(path.Ext(name)) {
	case ".gz", ".tgz", ".svgz", ".br", ".zst", ".z", ".taz":
		return true
	}
	return false
}
