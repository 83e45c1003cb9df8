package uri

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// bareURI finds the end of a URI without brackets or quotes. The scheme of the
// URI is text[start:colon]. bareURI returns the start of the path and the end
// of the URI. The end is -1 if the text is not a URI. A failed attempt reads at
// most up to the next "/" or second colon, so all attempts together take linear
// time.
func bareURI(text string, start, colon int) (path, end int) {
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

// bareAuthority returns the end of the authority that starts at text[i], or -1
// if the authority is invalid. The host must be a DNS name or an IP literal,
// and the port must be a number. Hosts such as "*.example" are rejected,
// although RFC 3986 allows them.
func bareAuthority(text string, i int) int {
	if at := bareSpan(text, i, UserinfoChars, new(int)); at > i && at < len(text) && text[at] == '@' {
		i = at + 1
	}
	host := i
	if i < len(text) && text[i] == '[' {
		i = spanRaw(text, i+1, UserinfoChars)
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
	end := spanRaw(text, i+1, digit)
	next := byte(' ')
	if end < len(text) {
		next = text[end]
	}
	switch {
	case end > i+1 && (next == '.' || !(alpha | mark).Has(next)), next == '/':
		return end
	case end == i+1 && (next >= 0x80 || strings.IndexByte(" \t\r\n\"'),.;:!?>]}|", next) >= 0):
		return i // the colon belongs to the sentence
	}
	return -1
}

// bareHost returns the end of the host name that starts at text[i]. If text in
// Chinese or another script without spaces directly follows an ASCII name, the
// host ends where the script changes.
func bareHost(text string, i int) int {
	turn := -1
	for start := i; i < len(text); {
		c := text[i]
		switch {
		case (alpha | digit).Has(c) || c == '-' || c == '_':
			i++
		case isEncoded(text, i):
			i += 3
		case c == '.' && i > start && text[i-1] != '.' && i+1 < len(text):
			next := text[i+1]
			if !(alpha | digit).Has(next) && !isLetterAt(text, i+1) && !isEncoded(text, i+1) && next != '_' {
				if strings.IndexByte("/:?#", next) >= 0 {
					i++ // the dot of the DNS root
				}
				return bareHostEnd(i, turn)
			}
			turn = -1
			i++
		case isLetterAt(text, i):
			r, size := utf8.DecodeRuneInString(text[i:])
			if turn < 0 && i > start && (alpha | digit).Has(text[i-1]) && isSpaceless(r) {
				turn = i
			}
			i += size
		default:
			return bareHostEnd(i, turn)
		}
	}
	return bareHostEnd(i, turn)
}

// bareHostEnd returns turn, the offset at which the script of a host name
// changes. It returns end if turn is -1.
func bareHostEnd(end, turn int) int {
	if turn >= 0 {
		return turn
	}
	return end
}

// bareTail returns the end of the path, query and fragment that start at
// text[i].
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

// bareSpan returns the end of the longest substring that starts at text[i] and
// may belong to a URI. The substring consists of characters in set,
// percent-encodings and non-ASCII letters. A letter of a script without spaces
// must not follow an ASCII word. The substring ends before an unbalanced
// closing parenthesis. *open is the number of unclosed parentheses, which
// bareSpan updates.
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
		case isEncoded(text, i):
			i += 3
		case isLetterAt(text, i):
			r, size := utf8.DecodeRuneInString(text[i:])
			if last := text[i-1]; last < 0x80 && isSpaceless(r) && strings.IndexByte("/?#=&+-_(~@", last) < 0 {
				return i
			}
			i += size
		default:
			return i
		}
	}
	return i
}

// isLetterAt reports whether a non-ASCII letter, combining mark or digit starts
// at text[i].
func isLetterAt(text string, i int) bool {
	if i >= len(text) || text[i] < 0x80 {
		return false
	}
	r, _ := utf8.DecodeRuneInString(text[i:])
	return unicode.In(r, unicode.L, unicode.M, unicode.N)
}

// isSpaceless reports whether r belongs to a script that is often written
// without spaces between words, such as Chinese, Japanese or Thai.
func isSpaceless(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
		unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) ||
		0xff00 <= r && r <= 0xffef // full-width forms
}

// trimPunctuation removes the punctuation of the surrounding sentence from the
// end of a URI. It returns the new end of the URI text[:end], and does not
// remove characters before text[path]. The parameter before is the character in
// front of the URI. If it is "*", "_" or "~", as in "_URI_", the same
// characters are also removed from the end.
func trimPunctuation(text string, path, end int, before byte) int {
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
