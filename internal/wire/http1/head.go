package http1

import (
	"bytes"
	"strconv"
	"strings"
)

// Lines collects the lines of a message head. A message head consists of the
// start line, the header fields and a blank line.
type Lines struct {
	Text  []byte // collected lines with their line ends
	Rules *Rules

	first    int  // offset of the current head in Text
	start    int  // offset of the current line in Text
	inFields bool // the start line of the current head is complete
	fields   int  // number of field lines in all heads
}

// usualHead is the initial capacity of Lines.Text. Most message heads fit.
const usualHead = 512

// Next appends bytes of p to Text, up to the end of the message head. It
// returns the number of bytes consumed and whether the head is complete.
func (l *Lines) Next(p []byte) (n int, done bool, err error) {
	limit := MaxHead
	if l.Rules.Mode == Stored {
		limit = maxStoredHead
	}
	if l.Text == nil {
		l.Text = make([]byte, 0, usualHead)
	}
	for n < len(p) && !done {
		end := bytes.IndexByte(p[n:], '\n') + 1
		if end == 0 {
			end = len(p) - n
		}
		if len(l.Text)+end > limit {
			return n + end, false, tooLarge("response head larger than %d bytes", limit)
		}
		l.Text = append(l.Text, p[n:n+end]...)
		n += end
		if l.Text[len(l.Text)-1] != '\n' {
			break
		}
		if done, err = l.line(l.Text[l.start:]); err != nil {
			return n, false, err
		}
		l.start = len(l.Text)
	}
	return n, done, nil
}

// line processes a complete line and reports whether the line ends the message
// head. In the modes [Tolerant] and [Stored], it skips blank lines before the
// start line.
func (l *Lines) line(line []byte) (last bool, err error) {
	switch {
	case l.Rules.blank(line):
		last = l.inFields || l.Rules.Mode < Tolerant
		if l.inFields = false; !last {
			err = l.Rules.Deviate("blank line before the status line")
		}
		return last, err
	case !l.inFields:
		l.inFields = true
		return false, nil
	}
	if l.fields++; l.fields > MaxFields && l.Rules.Mode != Stored {
		return false, tooLarge("response head has more than %d fields", MaxFields)
	}
	return false, nil
}

// Head returns the lines of the current message head.
func (l *Lines) Head() string { return string(l.Text[l.first:]) }

// Restart prepares l for the next message head, for example after an interim
// response. Next will append the head to text.
func (l *Lines) Restart(text []byte) { l.Text, l.first, l.start = text, len(text), len(text) }

// Complete returns the complete lines that have been collected. It omits an
// incomplete last line.
func (l *Lines) Complete() []byte { return l.Text[:l.start] }

// blank reports whether line consists only of a line end. In the mode [Stored],
// the line end may be CR CR LF.
func (r *Rules) blank(line []byte) bool {
	if r.Mode == Stored {
		return len(bytes.TrimRight(line, "\r\n")) == 0
	}
	return string(line) == "\r\n" || string(line) == "\n"
}

// IsResponse reports whether a message that begins with start is a response and
// not a request. start should have at least five bytes.
func (r *Rules) IsResponse(start string) bool {
	const prefix = "HTTP/"
	switch {
	case strings.HasPrefix(start, prefix):
		return true
	case r.Mode < Tolerant:
		return false
	}
	return len(start) >= len(prefix) && strings.EqualFold(start[:len(prefix)], prefix) || strings.HasPrefix(start, "ICY ")
}

// A Status is a parsed status line (RFC 9112 4).
type Status struct {
	Proto string // for example "HTTP/1.1"; any word in a [Stored] message
	Minor byte   // minor version
	Code  int    // three digits, or zero for a request
}

// ParseStatus parses a status line, such as "HTTP/1.1 200 OK". The line must
// not include its line end.
func (r *Rules) ParseStatus(line string) (s Status, err error) {
	version, rest, _ := strings.Cut(line, " ")
	code, _, _ := strings.Cut(strings.TrimLeft(rest, " "), " ")
	n, err := strconv.ParseUint(code, 10, 16)
	s.Code = int(n)
	if err != nil || len(code) != 3 || r.Mode == Strict && (n < 100 || rest[0] == ' ') {
		if err := r.Deviate("status code is not three digits: treated as 200"); err != nil {
			return s, err
		}
		s.Code = 200
	}
	const prefix = "HTTP/1."
	minor, ok := strings.CutPrefix(version, prefix)
	if ok && len(minor) == 1 && '0' <= minor[0] && minor[0] <= '9' {
		s.Proto, s.Minor = version, minor[0]-'0'
		return s, nil
	}
	if s.Proto = "HTTP/1.0"; r.Mode == Stored {
		s.Proto = version
	}
	return s, r.Deviate("version is neither HTTP/1.0 nor HTTP/1.1")
}

// SplitHead splits a message head into its start line and the lines of the
// header fields. The start line has no line end. Blank lines before the start
// line are removed.
func SplitHead(head string) (start, fields string) {
	start, fields, _ = strings.Cut(strings.TrimLeft(head, "\r\n"), "\n")
	return strings.TrimSuffix(start, "\r"), fields
}

// ParseHead parses a response head and returns the status line and the header
// fields. In the mode [Stored] it also parses a request head and returns a zero
// Status.
func ParseHead[F Field](r *Rules, head string) (s Status, fields []F, err error) {
	start, text := SplitHead(head)
	if r.Mode != Stored || r.IsResponse(start) {
		if s, err = r.ParseStatus(start); err != nil {
			return s, nil, err
		}
	}
	text, _ = Unfold(text)
	fields, err = ParseFields[F](r, text)
	return s, fields, err
}

// Unfold joins header fields that are folded over several lines (RFC 9112 5.2).
// It also reports whether text contains a folded field. A line that follows one
// without a colon stays, because only values can be folded.
func Unfold(text string) (unfolded string, folded bool) {
	if !strings.Contains(text, "\n ") && !strings.Contains(text, "\n\t") {
		return text, false
	}
	out := make([]byte, 0, len(text))
	hasValue := false // the start of the current field has a colon
	for line := range strings.Lines(text) {
		switch continues := len(out) > 0 && isBlank(line[0]); {
		case !continues:
			hasValue = strings.Contains(line, ":")
		case hasValue:
			out = bytes.TrimRight(out, " \t\r\n")
			line = strings.TrimLeft(line, " \t")
			if line != "" && line != "\n" && line != "\r\n" {
				out = append(out, ' ')
			}
		}
		out = append(out, line...)
	}
	return string(out), true
}

// A Field is a struct type with the name and the value of a header field. The
// parsers of this package return fields of any such type.
type Field interface{ ~struct{ Name, Value string } }

// ParseFields parses header field lines (RFC 9112 5). It does not support
// folded fields, which [Unfold] joins.
func ParseFields[F Field](r *Rules, text string) ([]F, error) {
	fields := make([]F, 0, min(strings.Count(text, "\n")+1, MaxFields))
	for len(text) > 0 {
		var line string
		line, text = cutLine(text)
		name, value, ok := parsePlainField(line)
		if !ok {
			var err error
			if name, value, err = r.parseDeviantField(line); err != nil {
				return nil, err
			}
		}
		if name != "" {
			fields = append(fields, F(struct{ Name, Value string }{name, value}))
		}
	}
	return fields, nil
}

// cutLine splits text after its first line. The returned line has no line end.
func cutLine(text string) (line, rest string) {
	end := strings.IndexByte(text, '\n')
	if end < 0 {
		end = len(text)
	} else {
		rest = text[end+1:]
	}
	return strings.TrimSuffix(text[:end], "\r"), rest
}

// parsePlainField parses a header field that complies with the standard. It is
// faster than parseDeviantField.
func parsePlainField(line string) (name, value string, ok bool) {
	colon := 0
	for colon < len(line) && tokenBytes[line[colon]] {
		colon++
	}
	if colon == 0 || colon == len(line) || line[colon] != ':' || HasControl(line[colon:]) {
		return "", "", false
	}
	return line[:colon], Trim(line[colon+1:]), true
}

// parseDeviantField parses a header field that deviates from the standard. An
// empty name means that the caller must skip the field.
func (r *Rules) parseDeviantField(line string) (name, value string, err error) {
	if HasControl(line) {
		err = r.Deviate("control character in the response head")
		if r.Mode != Stored {
			line = withoutControls(line)
		}
	}
	if line == "" || err != nil {
		return "", "", err
	}
	if isBlank(line[0]) {
		return "", "", r.Deviate("header field begins with a blank")
	}
	before, value, ok := strings.Cut(line, ":")
	if !ok {
		return "", "", r.Deviate("header line has no colon")
	}
	name, value = strings.TrimRight(before, " "), strings.Trim(value, " \t\r")
	switch {
	case name != before && (strings.EqualFold(name, "Content-Length") || strings.EqualFold(name, "Transfer-Encoding")):
		err = r.Deviate("blank before the colon of Content-Length or Transfer-Encoding")
	case !ValidName(strings.ReplaceAll(name, " ", "")):
		err = r.Deviate("header field name is not a token")
	case r.Mode == Strict: // other modes keep the field, as other clients do
		err = malformed("blank in a field name")
	}
	return strings.TrimSpace(name), value, err
}

func withoutControls(s string) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' && c != '\t' || c == 0x7f {
			return -1
		}
		return c
	}, s)
}
