package trace

import (
	"context"
	"log/slog"
)

// A StartFunc starts a span: the record of an operation with a start, events and
// an end. It returns the context of the operation. The function Spans of package
// wrap calls it for each request.
//
// StartFunc and Span correspond to the functions of OpenTelemetry, so that an
// adapter needs few lines. The names of attributes follow its semantic
// conventions, such as "url.full" and "server.address".
type StartFunc func(ctx context.Context, name string, attrs ...slog.Attr) (context.Context, Span)

// A Span is a running operation. AddEvent may be called by several goroutines at
// the same time. End is called once, after all other calls.
type Span interface {
	// AddEvent adds an event at the current time, such as a phase of the exchange.
	AddEvent(name string, attrs ...slog.Attr)

	// End ends the span. If err is not nil, the operation has failed. The
	// attributes describe the result.
	End(err error, attrs ...slog.Attr)
}

var phaseNames = [...]string{"resolved", "connected", "secured", "request sent", "first byte"}

// String returns the name of the phase, such as "first byte".
func (p Phase) String() string { return phaseNames[min(int(p), len(phaseNames)-1)] }
