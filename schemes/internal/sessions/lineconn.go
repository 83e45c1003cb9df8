package sessions

import (
	"context"
	"crypto/tls"
	"io"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/wire/line"
)

// A Text is a [Conn] for a protocol with text lines, such as FTP. It buffers
// commands until Flush is called.
type Text struct {
	*Conn
	Lines *line.Reader

	commands, traced []byte // unsent commands, and the same commands with masked secrets
}

// NewText returns a Text that reads lines from r. The reader r must read from
// c, for example through a decompressor. If r is nil, the Text reads from c
// directly.
func NewText(c *Conn, r io.Reader) *Text {
	if r == nil {
		r = c
	}
	return &Text{Conn: c, Lines: line.NewReader(r)}
}

// AddCommand appends a command to the buffer, with a space between the words.
// The space is also added before an empty word. If a word contains unsafe bytes
// such as CR or LF, AddCommand returns a [fetch.BadURL] error.
func (t *Text) AddCommand(words ...string) error {
	if err := t.add(words, words); err != nil {
		return fetch.BadURL.Errorf("%s: %w", words[0], err)
	}
	return nil
}

// AddSecretCommand works like AddCommand, but reports "***" in place of the
// last word to the Trace. If a word contains unsafe bytes such as CR or LF,
// AddSecretCommand returns a [fetch.Usage] error.
func (t *Text) AddSecretCommand(words ...string) error {
	last := len(words) - 1
	if err := t.add(words, append(words[:last:last], "***")); err != nil {
		return fetch.Usage.Errorf("credential cannot be sent: %s: %w", words[0], err)
	}
	return nil
}

func (t *Text) add(words, shown []string) error {
	out, err := line.Append(t.commands, line.MaxCommand, words...)
	if err != nil {
		return err
	}
	t.commands = out
	t.TraceCommand(shown...)
	return nil
}

// TraceCommand adds a command to the next report to the Trace. It does not send
// the command.
func (t *Text) TraceCommand(words ...string) {
	t.traced, _ = line.Append(t.traced, line.MaxCommand, words...)
}

// ClearTrace discards the buffered report to the Trace, but keeps the buffered
// commands.
func (t *Text) ClearTrace() { t.traced = t.traced[:0] }

// Discard discards the buffered commands and the buffered report to the Trace.
func (t *Text) Discard() { t.commands, t.traced = t.commands[:0], t.traced[:0] }

// Flush sends the buffered commands and reports them to the Trace.
func (t *Text) Flush() error {
	defer t.Discard()
	if len(t.commands) == 0 {
		t.reportSent(t.traced)
		return nil
	}
	return t.Send(t.commands, t.traced)
}

// AwaitReply sends the buffered commands and calls the function read, which reads
// a reply. It breaks the connection after an error.
func (t *Text) AwaitReply(read func() error) error {
	err := t.Flush()
	if err == nil {
		t.SetReplyTimeout(ReplyTimeout)
		if err = read(); err == nil {
			return nil
		}
	}
	t.Break()
	return ReplyFault(err)
}

// ReadShortBlock calls the function each for every line of a short multi-line
// response, up to the line ".".
func (t *Text) ReadShortBlock(each func(text string)) error {
	for n := 0; ; n++ {
		text, _, err := t.Lines.ReadLine(line.MaxReplyLine)
		switch {
		case err == nil && string(text) == ".":
			return nil
		case err == nil && n == line.MaxReplyLines:
			err = fetch.Protocol.With(line.ErrTooManyLines)
		case err == nil:
			each(string(text))
			continue
		}
		t.Break()
		return ReplyFault(err)
	}
}

// Encrypt works like [Conn.Encrypt]. It returns an error if the line reader has
// buffered plaintext from the server.
func (t *Text) Encrypt(ctx context.Context, config *tls.Config, host string) error {
	return t.Conn.Encrypt(ctx, config, host, t.Lines.Buffered())
}

// Buffered reports whether the buffer contains commands that have not been sent.
func (t *Text) Buffered() bool { return len(t.commands) > 0 }
