package wrap

import (
	"context"
	"log/slog"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// Log returns a middleware that writes two log records for each request. It
// writes the record "response" when the response begins or the request fails,
// and the record "body" when the body ends.
//
// Failures have the level Warn, and other records have the level Info. A body
// that the caller closed early is not a failure. Log masks passwords and
// secrets in query parameters. Errors may contain text from the server, which
// the Handler must quote. If l is nil, no log is written.
func Log(l *slog.Logger) fetch.Middleware {
	if l == nil {
		return noMiddleware
	}
	return func(next fetch.Driver) fetch.Driver {
		return fetch.DriverFunc(func(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
			began := time.Now()
			resp, err := next.Do(ctx, req)
			about := l.With("op", req.Op.String(), "scheme", req.URL.Scheme(), "url", masked(req.URL))
			if err != nil {
				about.LogAttrs(ctx, slog.LevelWarn, "response", append(failure(err), slog.Duration("duration", time.Since(began)))...)
				return nil, err
			}
			about.LogAttrs(ctx, level(resp.Fault), "response", append(answer(resp), slog.Duration("duration", time.Since(began)))...)
			resp.Body = &observedBody{ReadCloser: resp.Body, onEnd: func(total int64, err error) {
				early := err == errClosedEarly
				if early {
					err = nil
				}
				attrs := append(failure(err), slog.Int64("bytes", total), slog.Bool("closed", early), slog.Duration("duration", time.Since(began)))
				about.LogAttrs(ctx, level(err), "body", attrs...)
			}}
			return resp, nil
		})
	}
}

func level(err error) slog.Level {
	if err != nil {
		return slog.LevelWarn
	}
	return slog.LevelInfo
}

// failure returns the class and the text of an error as attributes of a log
// record. It returns nil if err is nil.
func failure(err error) []slog.Attr {
	if err == nil {
		return nil
	}
	return []slog.Attr{slog.String("fault", fetch.FaultOf(err).String()), slog.String("error", uri.Redact(err.Error()))}
}

func answer(resp *fetch.Response) []slog.Attr {
	attrs := append(failure(resp.Fault), slog.Int("code", resp.Code), slog.String("kind", resp.Kind.String()), slog.Int64("size", resp.Size))
	if resp.Offset > 0 {
		attrs = append(attrs, slog.Int64("offset", resp.Offset))
	}
	if resp.Peer.IsValid() {
		attrs = append(attrs, slog.String("peer", resp.Peer.String()))
	}
	if !resp.Location.IsZero() {
		attrs = append(attrs, slog.String("location", masked(resp.Location)))
	}
	return attrs
}

// masked returns a URL as text with its secrets masked.
func masked(u uri.URI) string { return uri.Redact(u.String()) }
