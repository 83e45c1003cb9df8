package sessions

import (
	"context"
	"crypto/tls"
	"io"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/line"
)

// A Text is a Conn of a protocol of lines. Commands are collected and sent
// together.
type Text struct {
	*Conn
	Lines *line.Reader

	commands, traced []byte // commands not yet sent, and as the Trace reports them
}

// NewText returns a Text whose Lines read r, which reads c; nil is c itself.
func NewText(c *Conn, r io.Reader) *Text {
	if r == nil {
		r = c
	}
	return &Text{Conn: c, Lines: line.NewReader(r)}
}

// Tell adds a command to those that Flush sends. An empty word keeps its
// space. The error is for a word of the URL that is not safe to send.
func (t *Text) AddCommand(words ...string) error {
	if err := t.add(words, words); err != nil {
		return fetch.BadURL.Errorf("%s: %w", words[0], err)
	}
	return nil
}

// TellSecret is Tell for a command whose last word the Trace reports masked.
// The error is for a credential that is not safe to send.
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

// Show adds a command to those that Flush reports to the Trace.
func (t *Text) TraceCommand(words ...string) {
	t.traced, _ = line.Append(t.traced, line.MaxCommand, words...)
}

// Hide removes the commands that Flush would report.
func (t *Text) ClearTrace() { t.traced = t.traced[:0] }

// Discard removes the commands that Flush would send and report.
func (t *Text) Discard() { t.commands, t.traced = t.commands[:0], t.traced[:0] }

// Flush sends the commands that were told.
func (t *Text) Flush() error {
	defer t.Discard()
	if len(t.commands) == 0 {
		t.reportSent(t.traced)
		return nil
	}
	return t.Send(t.commands, t.traced)
}

// Encrypt is Conn.Encrypt with regard to what Lines have read ahead.
func (t *Text) Encrypt(ctx context.Context, config *tls.Config, host string) error {
	return t.Conn.Encrypt(ctx, config, host, t.Lines.Buffered())
}
