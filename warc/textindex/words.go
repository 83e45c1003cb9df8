package textindex

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// A word is a word of a text in its normal form: in lower case and without
// diacritics. The text has it at the bytes from start to end.
type word struct {
	text       string
	start, end int
}

// maxWord limits the length of a word in bytes. The rest of a longer word is
// ignored.
const maxWord = 64

// words returns the words of a text: sequences of letters, digits and marks.
// Each ideograph is a separate word, because these scripts have no spaces.
func words(text string) iter.Seq[word] {
	return func(yield func(word) bool) {
		start := -1
		for i, r := range text {
			kind := kindOf(r)
			if start >= 0 && kind != inWord {
				if !yieldWord(text, start, i, yield) {
					return
				}
				start = -1
			}
			if kind == inWord && start < 0 {
				start = i
			}
			if kind == alone && !yieldWord(text, i, i+utf8.RuneLen(r), yield) {
				return
			}
		}
		if start >= 0 {
			yieldWord(text, start, len(text), yield)
		}
	}
}

// yieldWord yields the normal form of text[start:end], unless it is empty.
func yieldWord(text string, start, end int, yield func(word) bool) bool {
	normal := normalize(text[start:end])
	return normal == "" || yield(word{normal, start, end})
}

// normalize returns the normal form of a word. It contains only letters, digits
// and marks, so that it has no meaning in the syntax of a query.
func normalize(text string) string {
	ascii := true
	for i := range len(text) {
		ascii = ascii && text[i] < utf8.RuneSelf
	}
	if len(text) > 4*maxWord {
		text = strings.ToValidUTF8(text[:4*maxWord], "")
	}
	if !ascii {
		text = strings.Map(func(r rune) rune {
			if unicode.Is(unicode.Mn, r) || !isWordRune(r) {
				return -1
			}
			return unicode.ToLower(r)
		}, norm.NFKD.String(text))
	} else {
		text = strings.ToLower(text)
	}
	if len(text) > maxWord {
		text = strings.ToValidUTF8(text[:maxWord], "")
	}
	return text
}

// A runeKind is the role of a character in words.
type runeKind uint8

const (
	separator runeKind = iota
	inWord
	alone // the character is a word
)

func kindOf(r rune) runeKind {
	switch {
	case r < utf8.RuneSelf:
		if 'a' <= r|0x20 && r|0x20 <= 'z' || '0' <= r && r <= '9' {
			return inWord
		}
		return separator
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar):
		if unicode.Is(unicode.Mn, r) || !isWordRune(r) {
			return separator
		}
		return alone
	case isWordRune(r):
		return inWord
	}
	return separator
}

func isWordRune(r rune) bool {
	return r != utf8.RuneError && (unicode.In(r, unicode.L, unicode.N, unicode.M))
}

// maxJoined limits the words of a text in bytes.
const maxJoined = 2 << 20

// joined returns the words of a text, separated by spaces.
func joined(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	for w := range words(text) {
		if b.Len() > maxJoined {
			break
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(w.text)
	}
	return b.String()
}
