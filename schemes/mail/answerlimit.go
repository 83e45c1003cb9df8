package mail

import "github.com/anyurl/fetch/fetch"

const (
	maxAnswer       = 256 << 10 // maximum bytes in the answer to one command, without message content
	entryAllowance  = 64 << 10
	maxSearchAnswer = 1 << 20 // maximum bytes in the answer to a search

	// maxOpenParens limits the nesting of parentheses, which imapclient parses
	// recursively without a limit. Its error grows with each level, so that the
	// memory allocated is the square of the nesting. The limit must exceed
	// maxRead, because parentheses in a literal may be counted too.
	maxOpenParens = maxRead + 512
	maxRead       = 256 // maximum bytes of a read outside of a literal
)

// An answerLimit limits the size and the nesting of a server's answer, because
// imapclient would read it into memory.
type answerLimit struct {
	size       int64 // maximum size of the answer
	remaining  int64 // bytes of the answer that may still be read
	literal    int64 // unread bytes of the current literal
	openParens int   // consecutive opening parentheses
}

func newAnswerLimit(size int64) answerLimit { return answerLimit{size: size, remaining: size} }

// allowLiteral raises the limit by n bytes, the length of a literal.
// Parentheses in the literal are not counted.
func (l *answerLimit) allowLiteral(n int64) {
	l.remaining += n
	l.literal = n
}

// refill raises the limit after an entry of a listing.
func (l *answerLimit) refill() { l.remaining = min(l.remaining+entryAllowance, maxAnswer) }

// nextRead returns the maximum size of the next read, or an error if the answer
// is too long.
func (l *answerLimit) nextRead() (int64, error) {
	if l.remaining <= 0 {
		return 0, fetch.TooLarge.Errorf("response is longer than %d bytes", l.size)
	}
	return min(l.remaining, l.literal+maxRead), nil
}

// count counts the bytes of text. It returns an error if text has too many
// nested parentheses.
func (l *answerLimit) count(text []byte) error {
	l.remaining -= int64(len(text))
	if skip := min(l.literal, int64(len(text))); skip > 0 {
		l.literal -= skip
		l.openParens = 0
		text = text[skip:]
	}
	for _, c := range text {
		if c != '(' {
			l.openParens = 0
		} else if l.openParens++; l.openParens > maxOpenParens {
			return fetch.Protocol.Errorf("response has more than %d nested parentheses", maxOpenParens)
		}
	}
	return nil
}
