package tree

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// plainChars contains the ASCII characters that are not escaped. They have no
// special meaning in a shell word or a file name.
const plainChars = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._~@+=,()!-"

// isPlain contains true for each byte in plainChars.
var isPlain = func() (set [256]bool) {
	for _, c := range []byte(plainChars) {
		set[c] = true
	}
	return set
}()

// isPrintable contains true for each printable ASCII character that all file
// systems allow in names, except "%".
var isPrintable = func() (set [256]bool) {
	for c := ' '; c <= '~'; c++ {
		set[c] = !strings.ContainsRune(`%/\:*?"<>|`, c)
	}
	return set
}()

// escape decodes percent-encoded bytes in text. It then encodes all characters
// except those in plainChars and printable characters outside ASCII.
func escape(text string) string { return escapeExcept(text, &isPlain) }

// escapeExcept is like escape, but the parameter plain has the ASCII characters
// that are not encoded.
func escapeExcept(text string, plain *[256]bool) string {
	for i := 0; ; i++ {
		if i == len(text) {
			return text // no character needs an escape
		}
		if !plain[text[i]] {
			break
		}
	}
	out := make([]byte, 0, len(text)+16)
	for len(text) > 0 {
		c, n := decodeOctet(text)
		if c < utf8.RuneSelf {
			if plain[c] {
				out = append(out, c)
			} else {
				out = encode(out, c)
			}
			text = text[n:]
			continue
		}
		var char [utf8.UTFMax]byte
		size, end := decodeCharacter(text, &char)
		if r, _ := utf8.DecodeRune(char[:size]); size > 1 && unicode.IsPrint(r) {
			out = append(out, char[:size]...)
		} else {
			out, end = encode(out, c), n
		}
		text = text[end:]
	}
	return string(out)
}

// decodeOctet decodes the first byte of text. The result n is the length of its
// encoding in text: 3 if the byte is percent-encoded, and 1 otherwise.
func decodeOctet(text string) (c byte, n int) {
	if text[0] == '%' && len(text) >= 3 {
		if b, err := strconv.ParseUint(text[1:3], 16, 8); err == nil {
			return byte(b), 3
		}
	}
	return text[0], 1
}

// decodeCharacter decodes the first UTF-8 character of text into char. It
// returns the size of the character, or 1 if it is invalid. The result end is
// the length of its encoding in text.
func decodeCharacter(text string, char *[utf8.UTFMax]byte) (size, end int) {
	for size < len(char) && end < len(text) && !utf8.FullRune(char[:size]) {
		c, n := decodeOctet(text[end:])
		char[size] = c
		size, end = size+1, end+n
	}
	if _, width := utf8.DecodeRune(char[:size]); width != size {
		return 1, end
	}
	return size, end
}

func encode(dst []byte, c byte) []byte {
	const digits = "0123456789ABCDEF"
	return append(dst, '%', digits[c>>4], digits[c&15])
}

// guard encodes a character of name if the name is reserved, for example by
// Windows.
func guard(name string) string {
	switch name {
	case "":
		return "%" // unique, because a "%" in a URL is encoded as %25
	case ".", "..":
		return strings.ReplaceAll(name, ".", "%2E")
	}
	if last := len(name) - 1; name[last] == '.' {
		name = name[:last] + "%2E"
	}
	if stem := device(name); stem > 0 {
		_, size := utf8.DecodeLastRuneInString(name[:stem])
		last := []byte(name[:stem-size])
		for _, c := range []byte(name[stem-size : stem]) {
			last = encode(last, c)
		}
		name = string(last) + name[stem:]
	}
	if len(name) > maxName {
		name = truncateName(name, shortName) + "~" + digest(name)
	}
	return name
}

// device returns the length of the Windows device name at the start of name, or
// 0 if there is none. Windows ignores the text after the first dot.
func device(name string) int {
	stem, _, _ := strings.Cut(name, ".")
	stem = strings.TrimRight(stem, " ") // ignored by Windows, too
	switch len(stem) {
	case len("con"):
		switch strings.ToLower(stem) {
		case "con", "prn", "aux", "nul":
			return len(stem)
		}
	case len("com1"), len("com¹"):
		switch strings.ToLower(stem[:3]) {
		case "com", "lpt":
			if strings.Contains("0123456789¹²³", stem[3:]) && utf8.RuneCountInString(stem[3:]) == 1 {
				return len(stem)
			}
		}
	}
	return 0
}

// truncateName returns the first n bytes of name, or fewer bytes, so that no
// character and no percent-encoded byte is split.
func truncateName(name string, n int) string {
	if n >= len(name) {
		return name
	}
	for n > 0 && !utf8.RuneStart(name[n]) {
		n--
	}
	for back := 1; back <= 2 && back < n; back++ {
		if name[n-back] == '%' {
			return name[:n-back]
		}
	}
	return name[:n]
}

func decimal(n uint16) string { return strconv.Itoa(int(n)) }
