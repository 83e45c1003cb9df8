package sessions

import (
	"context"
	"crypto/tls"
	"io"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/line"
)

// A Text is a Conn for a line-based protocol. It buffers commands until Flush.
type Text struct {
	*Conn
	Lines *line.Reader

	commands, traced []byte // unsent commands, and their form for the Trace
}

// NewText returns a Text with a line reader for r. The reader r must read from
// c. If r is nil, the line reader reads c directly.
func NewText(c *Conn, r io.Reader) *Text {
	if r == nil {
		r = c
	}
	return &Text{Conn: c, Lines: line.NewReader(r)}
}

// AddCommand appends a command to the buffer. An empty word still adds its
// separating space. It returns an error of fault BadURL if a word has unsafe
// bytes.
func (t *Text) AddCommand(words ...string) error {
	if err := t.add(words, words); err != nil {
		return fetch.BadURL.Errorf("%s: %w", words[0], err)
	}
	return nil
}

// AddSecretCommand works like AddCommand, but the Trace shows the last word
// masked. It returns an error of fault Usage if a word has unsafe bytes.
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

// TraceCommand appends a command to the report for the Trace without sending
// it.
func (t *Text) TraceCommand(words ...string) {
	t.traced, _ = line.Append(t.traced, line.MaxCommand, words...)
}

// ClearTrace discards the buffered report for the Trace.
func (t *Text) ClearTrace() { t.traced = t.traced[:0] }

// Discard discards the buffered commands and the report for the Trace.
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

// Encrypt works like [Conn.Encrypt]. It returns an error if Lines has buffered
// plaintext.
func (t *Text) Encrypt(ctx context.Context, config *tls.Config, host string) error {
	return t.Conn.Encrypt(ctx, config, host, t.Lines.Buffered())
}
