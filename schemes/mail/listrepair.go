package mail

import (
	"bytes"
	"encoding/base64"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// A listRepairer corrects malformed LIST responses before imapclient parses
// them. imapclient closes the session if a mailbox name is not valid modified
// UTF-7 (RFC 3501 5.1.3) or if the hierarchy delimiter is empty. GNU imap4d
// sends such names.
type listRepairer struct {
	active      bool
	partialLine []byte // start of a line whose end was not yet received
}

// repair corrects malformed LIST responses in the next input from the server.
// It keeps an incomplete last line until the next call.
func (l *listRepairer) repair(text []byte) []byte {
	if !l.active && len(l.partialLine) == 0 {
		return text
	}
	l.partialLine = append(l.partialLine, text...)
	end := bytes.LastIndexByte(l.partialLine, '\n') + 1
	if !l.active || len(l.partialLine)-end > maxReply {
		end = len(l.partialLine)
	}
	var out []byte
	for line := range bytes.Lines(l.partialLine[:end]) {
		out = append(out, repairLine(line)...)
	}
	l.partialLine = append(l.partialLine[:0], l.partialLine[end:]...)
	return out
}

func repairLine(line []byte) []byte {
	const begin = "* LIST ("
	if len(line) < len(begin) || !strings.EqualFold(string(line[:len(begin)]), begin) {
		return line
	}
	text := strings.TrimRight(string(line), "\r\n")
	attributes, rest, _ := strings.Cut(text, ")")
	if name, ok := strings.CutPrefix(rest, ` "" `); ok {
		text = attributes + ") NIL " + name
	}
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return utf8.RuneError
		}
		return r
	}, strings.ToValidUTF8(text, string(utf8.RuneError)))
	var b strings.Builder
	shifted := false // if true, the preceding characters are a shift sequence
	for text != "" {
		before, rest, found := strings.Cut(text, "&")
		b.WriteString(before)
		if !found {
			break
		}
		b.WriteByte('&')
		run, after, ended := strings.Cut(rest, "-")
		switch {
		case ended && run == "":
			b.WriteByte('-')
			text, shifted = after, false
		case ended && !(shifted && before == "") && isShift(run):
			b.WriteString(run + "-")
			text, shifted = after, true
		default:
			b.WriteByte('-') // escapes an ampersand that does not start a shift sequence
			text, shifted = rest, false
		}
	}
	return []byte(b.String() + "\r\n")
}

// isShift reports whether run, the text between "&" and "-" in a mailbox name,
// is valid modified base64 (RFC 3501 5.1.3).
func isShift(run string) bool {
	b, err := base64.RawStdEncoding.DecodeString(strings.ReplaceAll(run, ",", "/"))
	if err != nil || len(b) == 0 || len(b)%2 != 0 || strings.Contains(run, "/") {
		return false
	}
	for i := 0; i < len(b); i += 2 {
		r := rune(b[i])<<8 | rune(b[i+1])
		if utf16.IsSurrogate(r) {
			if i += 2; i == len(b) || utf16.DecodeRune(r, rune(b[i])<<8|rune(b[i+1])) == utf8.RuneError {
				return false
			}
		} else if ' ' <= r && r <= '~' {
			return false
		}
	}
	return true
}
