package wrap

import (
	"context"
	"log/slog"
	"net"
	"strings"
	"sync"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/trace"
)

// Spans returns a middleware that starts a span for each request and ends it
// when the body ends, or when the request fails. The name of the span is the name
// of the operation, such as "get". The phases of the exchange, such as
// "connected", are events of the span. The request has the context of the span,
// so that the spans of inner middlewares are its children.
//
// As the first middleware, Spans describes a request with all its retries. As the
// last one, it describes each attempt. If start is nil, there are no spans.
func Spans(start trace.StartFunc) fetch.Middleware {
	if start == nil {
		return noMiddleware
	}
	return func(next fetch.Driver) fetch.Driver {
		return fetch.DriverFunc(func(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
			ctx, s := start(ctx, req.Op.String(), requestAttributes(req)...)
			phases := &spanPhases{span: s}
			req = req.Clone()
			req.Trace = phases.trace(req.Trace)
			resp, err := next.Do(ctx, req)
			if err != nil {
				phases.end(err, resultAttributes(nil, err)...)
				return nil, err
			}
			attrs := resultAttributes(resp, resp.Fault)
			if req.Op != fetch.Get {
				phases.end(resp.Fault, attrs...)
				return resp, nil
			}
			resp.Body = &observedBody{ReadCloser: resp.Body, onEnd: func(total int64, err error) {
				attrs := append(attrs, slog.Int64("http.response.body.size", total))
				switch {
				case err == errClosedEarly || err == nil:
					err = resp.Fault
				default:
					attrs = append(attrs, slog.String("error.type", fetch.FaultOf(err).String()))
				}
				phases.end(err, attrs...)
			}}
			return resp, nil
		})
	}
}

// spanPhases adds the phases of an exchange to a span until the span has ended.
type spanPhases struct {
	span trace.Span

	mu    sync.Mutex
	ended bool
}

// trace returns a copy of t that also adds the phases to the span.
func (s *spanPhases) trace(t *trace.Trace) *trace.Trace {
	var all trace.Trace
	if t != nil {
		all = *t
	}
	outer := all.Phase
	all.Phase = func(p trace.Phase, c net.Conn) {
		if outer != nil {
			outer(p, c)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if !s.ended {
			s.span.AddEvent(p.String())
		}
	}
	return &all
}

func (s *spanPhases) end(err error, attrs ...slog.Attr) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	s.span.End(err, attrs...)
}

// requestAttributes describes a request.
func requestAttributes(req *fetch.Request) []slog.Attr {
	attrs := []slog.Attr{slog.String("url.full", masked(req.URL)), slog.String("url.scheme", req.URL.Scheme())}
	if t, err := fetch.TargetOf(req.URL, req.Scheme().Port); err == nil && t.Host != "" {
		attrs = append(attrs, slog.String("server.address", t.Host), slog.Int("server.port", int(t.Port)))
	}
	return attrs
}

// resultAttributes describes a response, or the error of a request.
func resultAttributes(resp *fetch.Response, err error) (attrs []slog.Attr) {
	if err != nil {
		attrs = append(attrs, slog.String("error.type", fetch.FaultOf(err).String()))
	}
	if resp == nil {
		return attrs
	}
	if resp.Code != 0 {
		attrs = append(attrs, slog.Int("http.response.status_code", resp.Code))
	}
	if name, version, ok := strings.Cut(resp.Proto, "/"); ok {
		attrs = append(attrs, slog.String("network.protocol.name", strings.ToLower(name)), slog.String("network.protocol.version", version))
	}
	if resp.Peer.IsValid() {
		attrs = append(attrs, slog.String("network.peer.address", resp.Peer.String()))
	}
	return attrs
}
