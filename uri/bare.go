package uri

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// bare returns where path and end of the URI lie whose scheme is text[start:colon]
// and that no wrapper delimits; an end of -1 says that there is none. What it reads
// in vain never reaches over a "/" or a second colon, so that all of them together
// are read in linear time.
func bare(text string, start, colon int) (path, end int) {
	path = colon + 1
	scheme := strings.ToLower(text[start:colon])
	if strings.HasPrefix(text[path:], "//") {
		path = bareAuthority(text, path+2)
		if path < 0 || path == colon+3 && scheme != "file" {
			return path, -1
		}
		return path, bareTail(text, path)
	}
	switch scheme {
	case "file", "urn":
		if path < len(text) && (text[path] == '/') == (scheme == "file") {
			return path, bareSpan(text, path, Path, new(int))
		}
	case "news", "mid", "cid", "mailto":
		open := 0
		end = bareSpan(text, path, SegmentNoColon|slash, &open)
		if scheme == "mailto" && end < len(text) && text[end] == '?' && strings.IndexByte(text[path:end], '@') > 0 {
			end = bareSpan(text, end+1, QueryChars, &open)
		}
		return path, end
	}
	return path, -1
}

// bareAuthority returns the end of the authority at text[i], or -1. It is stricter
// than RFC 3986: the host is a name as DNS has it or an IP literal, and a port is a
// number. "http://host:port/" is no URI, nor is "http://*.example/".
func bareAuthority(text string, i int) int {
	if at := bareSpan(text, i, UserinfoChars, new(int)); at > i && at < len(text) && text[at] == '@' {
		i = at + 1
	}
	host := i
	if i < len(text) && text[i] == '[' {
		i = run(text, i+1, UserinfoChars)
		if i == len(text) || text[i] != ']' {
			return -1
		}
		i++
	} else {
		i = bareHost(text, i)
	}
	if i == host || i == len(text) || text[i] != ':' {
		return i
	}
	end := run(text, i+1, digit)
	next := byte(' ')
	if end < len(text) {
		next = text[end]
	}
	switch {
	case end > i+1 && (next == '.' || !(alpha | mark).Has(next)), next == '/':
		return end
	case end == i+1 && (next >= 0x80 || strings.IndexByte(" \t\r\n\"'),.;:!?>]}|", next) >= 0):
		return i // the colon is of the sentence
	}
	return -1
}

// bareHost returns the end of the host name at text[i]. Its last label does not
// turn from ASCII to a script without spaces: there the sentence goes on.
func bareHost(text string, i int) int {
	turn := -1
	for start := i; i < len(text); {
		c := text[i]
		switch {
		case (alpha | digit).Has(c) || c == '-' || c == '_':
			i++
		case encoded(text, i):
			i += 3
		case c == '.' && i > start && text[i-1] != '.' && i+1 < len(text):
			next := text[i+1]
			if !(alpha | digit).Has(next) && !letterAt(text, i+1) && !encoded(text, i+1) && next != '_' {
				if strings.IndexByte("/:?#", next) >= 0 {
					i++ // the dot of the root
				}
				return bareTurn(i, turn)
			}
			turn = -1
			i++
		case letterAt(text, i):
			r, size := utf8.DecodeRuneInString(text[i:])
			if turn < 0 && i > start && (alpha | digit).Has(text[i-1]) && spaceless(r) {
				turn = i
			}
			i += size
		default:
			return bareTurn(i, turn)
		}
	}
	return bareTurn(i, turn)
}

func bareTurn(end, turn int) int {
	if turn >= 0 {
		return turn
	}
	return end
}

// bareTail returns the end of path, query and fragment at text[i].
func bareTail(text string, i int) int {
	open := 0
	if i < len(text) && text[i] == '/' {
		i = bareSpan(text, i, Path, &open)
	}
	if i < len(text) && text[i] == '?' {
		i = bareSpan(text, i+1, QueryChars, &open)
	}
	if i < len(text) && text[i] == '#' {
		i = bareSpan(text, i+1, FragmentChars, &open)
	}
	return i
}

// bareSpan is span that takes letters outside ASCII too, those of a script without
// spaces only where they do not follow a word in ASCII, and that stops at a closing
// parenthesis when none is open: it was opened before the URI.
func bareSpan(text string, i int, set Set, open *int) int {
	for i < len(text) {
		switch c := text[i]; {
		case c == ')' && *open == 0:
			return i
		case set.Has(c):
			if c == '(' {
				*open++
			} else if c == ')' {
				*open--
			}
			i++
		case encoded(text, i):
			i += 3
		case letterAt(text, i):
			r, size := utf8.DecodeRuneInString(text[i:])
			if last := text[i-1]; last < 0x80 && spaceless(r) && strings.IndexByte("/?#=&+-_(~@", last) < 0 {
				return i
			}
			i += size
		default:
			return i
		}
	}
	return i
}

// letterAt reports whether a letter, mark or digit outside ASCII is at text[i].
func letterAt(text string, i int) bool {
	if i >= len(text) || text[i] < 0x80 {
		return false
	}
	r, _ := utf8.DecodeRuneInString(text[i:])
	return unicode.In(r, unicode.L, unicode.M, unicode.N)
}

// spaceless reports whether r is of a script whose words are not, or not always,
// set apart by spaces.
func spaceless(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
		unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) ||
		0xff00 <= r && r <= 0xffef // full-width forms
}

// sentence returns the end of the URI text[:end], whose path begins at text[path],
// less the punctuation of the sentence around it. Marks by which plain text is
// emphasised close where they were opened, in before.
func sentence(text string, path, end int, before byte) int {
	for end > path && strings.IndexByte(".,;:!?'(", text[end-1]) >= 0 {
		end--
	}
	if strings.IndexByte("*_~", before) >= 0 {
		for end > path && text[end-1] == before {
			end--
		}
	}
	return end
}
