package listing

import (
	"os"
	"strings"

	"github.com/anyurl/fetch/fetch"
)

// A Palette contains the colors of entries by kind and by the end of the name.
// Its zero value has the default colors.
type Palette struct {
	kinds    map[string]string // parameters of the sequence SGR, by the keys of LS_COLORS, such as "di"
	suffixes []suffixColor     // in the order of LS_COLORS
}

// A suffixColor is the color of names with an end such as ".tar".
type suffixColor struct{ suffix, color string }

const (
	maxColors   = 1000 // entries of LS_COLORS
	maxSequence = 40   // bytes of one color
)

// EnvironmentPalette returns the colors in the environment variable LS_COLORS.
func EnvironmentPalette() Palette { return ParsePalette(os.Getenv("LS_COLORS")) }

// ParsePalette parses the value of LS_COLORS, such as "di=01;34:*.tar=01;31".
// Malformed parts are ignored.
func ParsePalette(text string) Palette {
	p := Palette{kinds: map[string]string{}}
	n := 0
	for part := range strings.SplitSeq(text, ":") {
		key, color, ok := strings.Cut(part, "=")
		if n++; n > maxColors {
			break
		}
		if !ok || !isColor(color) {
			continue
		}
		if suffix, ok := strings.CutPrefix(key, "*"); ok && suffix != "" {
			p.suffixes = append(p.suffixes, suffixColor{suffix, color})
		} else {
			p.kinds[key] = color
		}
	}
	return p
}

// isColor reports whether text contains only the parameters of a color, so that
// it cannot be another control sequence.
func isColor(text string) bool {
	return len(text) <= maxSequence && strings.Trim(text, "0123456789;") == ""
}

// color returns the color of an entry, or "" for the color of the terminal.
func (p Palette) color(e fetch.Entry) string {
	kind, standard := "fi", ""
	_, target := e.Extra["link"]
	switch {
	case target || e.Extra["type"] == "symlink":
		kind, standard = "ln", "36"
	case e.Kind == fetch.Menu:
		kind, standard = "di", "1;34" // as in ls
	case e.Kind == fetch.Index, e.Kind == fetch.Session:
		return "36" // LS_COLORS has no key for them
	}
	color, ok := p.kinds[kind]
	if !ok || color == "target" {
		color = standard
	}
	if kind == "fi" {
		for i := len(p.suffixes) - 1; i >= 0; i-- { // the last one wins, as in ls
			if strings.HasSuffix(e.Name, p.suffixes[i].suffix) {
				return p.suffixes[i].color
			}
		}
	}
	if strings.Trim(color, "0;") == "" {
		return ""
	}
	return color
}

// paint returns escaped text with the color of the entry e.
func (p Palette) paint(e fetch.Entry, text string) string {
	color := p.color(e)
	if color == "" {
		return text
	}
	return "\x1b[" + color + "m" + text + "\x1b[0m"
}

// maxTarget is the maximum length of the URL of a hyperlink. Terminals ignore
// longer ones.
const maxTarget = 2083

// link returns text as a hyperlink (OSC 8) to the URL of the entry, if a click on
// it is safe: the scheme has a driver, and its URLs name no files of this
// machine. The URL contains no password and no control character.
func (f *Format) link(e fetch.Entry, text string) string {
	if !f.Links || e.URL.IsZero() {
		return text
	}
	s := f.Scheme(e.URL.Scheme())
	target := e.URL.WithoutUserinfo().String()
	if s.Name == "" || s.Local || len(target) > maxTarget || strings.IndexFunc(target, func(r rune) bool { return r <= ' ' || r >= 0x7f }) >= 0 {
		return text
	}
	return "\x1b]8;;" + target + "\x1b\\" + text + "\x1b]8;;\x1b\\"
}
