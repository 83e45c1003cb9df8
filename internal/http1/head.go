package http1

import (
	"bytes"
	"strconv"
	"strings"
)

// Lines collects the lines of a message head, including the blank line at its
// end.
type Lines struct {
	Text  []byte // collected lines with their line ends
	Rules *Rules

	first    int  // offset of the current head in Text
	start    int  // offset of the current line in Text
	inFields bool // the start line of the current head is complete
	fields   int  // number of field lines in all heads
}

// Next collects bytes of p up to the end of the head. It returns the number of
// bytes and whether the head is complete.
func (l *Lines) Next(p []byte) (n int, done bool, err error) {
	limit := MaxHead
	if l.Rules.Mode == Stored {
		limit = maxStoredHead
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

// line reports whether line is the last line of the head. [Tolerant] and
// [Stored] skip blank lines before the start line.
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

// Head returns the lines of the current head.
func (l *Lines) Head() string { return string(l.Text[l.first:]) }

// Restart prepares l for another head, which is appended to text.
func (l *Lines) Restart(text []byte) { l.Text, l.first, l.start = text, len(text), len(text) }

// Complete returns all lines that are complete.
func (l *Lines) Complete() []byte { return l.Text[:l.start] }

// blank reports whether line has only a line end. Some stored messages have the
// line end CR CR LF.
func (r *Rules) blank(line []byte) bool {
	if r.Mode == Stored {
		return len(bytes.TrimRight(line, "\r\n")) == 0
	}
	return string(line) == "\r\n" || string(line) == "\n"
}

// IsResponse reports whether a head that begins with start has a status line.
// start should have at least five bytes.
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

// A Status is a status line (RFC 9112 4).
type Status struct {
	Proto string // for example "HTTP/1.1"; any word in a [Stored] message
	Minor byte   // minor version
	Code  int    // three digits, or zero for a request
}

// ParseStatus parses a status line without its line end.
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

// SplitHead splits a head into its start line, without its line end, and the
// field lines. It drops blank lines before the start line.
func SplitHead(head string) (start, fields string) {
	start, fields, _ = strings.Cut(strings.TrimLeft(head, "\r\n"), "\n")
	return strings.TrimSuffix(start, "\r"), fields
}

// ParseHead parses the head of a response. In the mode [Stored] it also parses
// the head of a request, for which Status is zero.
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

// Unfold joins each field that spans several lines (RFC 9112 5.2). It reports
// whether text has such a field.
func Unfold(text string) (unfolded string, folded bool) {
	if !strings.Contains(text, "\n ") && !strings.Contains(text, "\n\t") {
		return text, false
	}
	out := make([]byte, 0, len(text))
	for line := range strings.Lines(text) {
		if len(out) > 0 && isBlank(line[0]) {
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

// A Field is a header field. The parsers support every type with this
// underlying type.
type Field interface{ ~struct{ Name, Value string } }

// ParseFields parses field lines (RFC 9112 5). Folded fields must be joined
// before with [Unfold].
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

// cutLine returns the first line of text, without its line end, and the
// remaining lines.
func cutLine(text string) (line, rest string) {
	end := strings.IndexByte(text, '\n')
	if end < 0 {
		end = len(text)
	} else {
		rest = text[end+1:]
	}
	return strings.TrimSuffix(text[:end], "\r"), rest
}

// parsePlainField parses a line without deviations. It is faster than
// parseDeviantField.
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

// parseDeviantField parses a line with deviations. The name is empty if the
// line is skipped.
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
