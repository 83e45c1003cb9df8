package line

// Limits of one reply. Real servers stay far below them.
const (
	MaxReplyLine  = 8 << 10  // bytes of a reply that is one line by its protocol
	MaxReply      = 64 << 10 // bytes of one that may have many, in all of them, their ends apart
	MaxReplyLines = 1000
)

// A Reply is a server's answer to one command.
type Reply struct {
	Code  int      // 100 to 599
	Lines []string // the texts, at least one: without code, separator and line end where they have them
}

// ReadReply reads a reply of FTP: one line "code text", or many from
// "code-text" to the next line that begins with the same code and a space
// (RFC 959, section 4.2). Lines between may hold anything, other codes
// included. A code alone is a line with an empty text. One of more than
// MaxReply bytes is ErrTooLong.
//
// A reply that the end of the input cuts short is io.ErrUnexpectedEOF;
// io.EOF means that none began.
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
			return Reply{}, unexpected(err)
		}
		text := string(line)
		if c, dash, ok := parseCode(line); ok && c == code {
			text, more = afterCode(line), dash
		}
		reply.Lines = append(reply.Lines, text)
	}
	return reply, nil
}

// ReadStatus reads a reply of NNTP: always one line. Whether a block follows
// depends on the command (RFC 3977, section 3.2).
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

// parseCode reads the code before a line's text; more tells of a "-" behind
// it.
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

// afterCode returns the text of a line that parseCode accepts.
func afterCode(line []byte) string { return string(line[min(4, len(line)):]) }
