package line

// Limits of one reply. Replies of real servers are much smaller.
const (
	MaxReplyLine  = 8 << 10  // bytes of a single-line reply
	MaxReply      = 64 << 10 // bytes of all lines of a multi-line reply, without line endings
	MaxReplyLines = 1000
)

// A Reply is the reply of a server to one command.
type Reply struct {
	Code  int      // 100 to 599
	Lines []string // text of each line without the code, the separator and the line ending; at least one
}

// ReadReply reads an FTP reply (RFC 959 section 4.2). A reply consists of the
// line "code text", or of several lines. The first of several lines is
// "code-text", and the last one starts with the same code and a space. Other
// lines may contain anything, including other codes. A line that contains only
// the code has an empty text. ReadReply returns ErrTooLong for a reply of more
// than MaxReply bytes.
//
// If the input ends inside a reply, the error is io.ErrUnexpectedEOF. If it
// ends before the reply, the error is io.EOF.
func (r *Reader) ReadReply() (Reply, error) {
	left := MaxReply
	line, _, err := r.ReadLine(left)
	if err != nil {
		return Reply{}, err
	}
	code, more, ok := parseCode(line)
	if !ok {
		return Reply{}, ErrNotReply
	}
	reply := Reply{code, []string{afterCode(line)}}
	for more {
		if len(reply.Lines) == MaxReplyLines {
			return Reply{}, ErrTooManyLines
		}
		left -= len(line)
		if line, _, err = r.ReadLine(left); err != nil {
			return Reply{}, UnexpectedEOF(err)
		}
		text := string(line)
		if c, dash, ok := parseCode(line); ok && c == code {
			text, more = afterCode(line), dash
		}
		reply.Lines = append(reply.Lines, text)
	}
	return reply, nil
}

// ReadStatus reads an NNTP status line. Whether a block follows the line
// depends on the command (RFC 3977 section 3.2).
func (r *Reader) ReadStatus() (Reply, error) {
	line, _, err := r.ReadLine(MaxReplyLine)
	if err != nil {
		return Reply{}, err
	}
	code, _, ok := parseCode(line)
	if !ok {
		return Reply{}, ErrNotReply
	}
	return Reply{code, []string{afterCode(line)}}, nil
}

// parseCode parses the reply code of a line. more reports whether a "-" follows
// the code.
func parseCode(line []byte) (code int, more, ok bool) {
	if len(line) < 3 || line[0] < '1' || line[0] > '5' {
		return 0, false, false
	}
	for _, c := range line[:3] {
		if c < '0' || c > '9' {
			return 0, false, false
		}
		code = code*10 + int(c-'0')
	}
	if len(line) == 3 {
		return code, false, true
	}
	return code, line[3] == '-', line[3] == '-' || line[3] == ' '
}

// afterCode returns the text after the reply code of a line. The line must be
// valid for parseCode.
func afterCode(line []byte) string { return string(line[min(4, len(line)):]) }
