package console

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"github.com/anyurl/fetch/internal/base/tty"
	"github.com/anyurl/fetch/uri"
)

// NewLogger returns a logger that writes records as lines of JSON to standard
// error. The records contain no passwords, and control characters are escaped.
func NewLogger(s *Streams) *slog.Logger {
	level := slog.LevelInfo
	switch {
	case s.Verbose:
		level = slog.LevelDebug
	case s.Silent:
		level = slog.LevelError
	}
	return slog.New(slog.NewJSONHandler(logWriter{s}, &slog.HandlerOptions{Level: level, ReplaceAttr: redactAttr}))
}

// logWriter writes each record to standard error.
type logWriter struct{ s *Streams }

func (w logWriter) Write(line []byte) (int, error) {
	_, err := w.s.Stderr.Write(tty.JSON(line))
	return len(line), err
}

// redactAttr removes secrets from an attribute. It drops an attribute with an
// empty text.
func redactAttr(_ []string, a slog.Attr) slog.Attr {
	v := a.Value.Resolve()
	if err, ok := v.Any().(error); ok {
		v = slog.StringValue(err.Error())
	}
	if v.Kind() != slog.KindString {
		return a
	}
	if v.String() == "" {
		return slog.Attr{}
	}
	return slog.String(a.Key, uri.Redact(v.String()))
}

// MirrorLogger returns the logger for the messages of a mirror. Without
// --log-json, it prints only warnings, as notes. It omits visits and other
// events, because a mirrorReport prints them.
func MirrorLogger(s *Streams) *slog.Logger {
	if s.Log != nil {
		return s.Log
	}
	return slog.New(&noteHandler{s: s})
}

// A noteHandler prints warnings as notes.
type noteHandler struct{ s *Streams }

func (h *noteHandler) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelWarn }

func (h *noteHandler) Handle(_ context.Context, r slog.Record) error {
	switch r.Message {
	case "visit", "archive", "upload failed":
		return nil
	}
	text := r.Message
	r.Attrs(func(a slog.Attr) bool {
		text += ": " + strings.TrimSpace(fmt.Sprint(a.Value.Any()))
		return true
	})
	h.s.Note("%s", oneLine(text))
	return nil
}

// WithAttrs returns h, because the only attribute is the name of the worker,
// which notes omit.
func (h *noteHandler) WithAttrs([]slog.Attr) slog.Handler { return h }
func (h *noteHandler) WithGroup(string) slog.Handler      { return h }
