package mail

// A continuationFilter removes continuation requests (RFC 3501 7.5) from the
// answers of the server, because imapclient does not expect them. Each request
// permits the next part of a command.
type continuationFilter struct {
	parts    []string // parts of the command that were not sent
	position linePosition
}

// A linePosition is the position of the next byte from the server.
type linePosition uint8

const (
	lineStart        linePosition = iota // a line starts
	lineText                             // within a line
	continuationLine                     // within a line that starts with "+"
)

// filter removes continuation requests from text, in place. It also returns the
// parts of the command that can now be sent.
func (f *continuationFilter) filter(text []byte) (rest []byte, next []string) {
	if size := len(text); len(f.parts) == 0 && f.position != continuationLine && size > 0 {
		if f.position = lineText; text[size-1] == '\n' {
			f.position = lineStart
		}
		return text, nil
	}
	n := 0
	for _, c := range text {
		if c == '+' && f.position == lineStart && len(f.parts) > 0 {
			f.position = continuationLine
		}
		switch {
		case f.position != continuationLine:
			text[n] = c
			n++
		case c == '\n':
			next, f.parts = append(next, f.parts[0]), f.parts[1:]
		}
		switch {
		case c == '\n':
			f.position = lineStart
		case f.position == lineStart:
			f.position = lineText
		}
	}
	return text[:n], next
}
