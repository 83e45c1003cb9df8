package wrap

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/trace"
)

// spanLog records the calls of a StartFunc and of its spans.
type spanLog struct{ lines []string }

func (l *spanLog) start(ctx context.Context, name string, attrs ...slog.Attr) (context.Context, trace.Span) {
	l.lines = append(l.lines, fmt.Sprint("start ", name, attrs))
	return context.WithValue(ctx, spanKey{}, name), l
}

type spanKey struct{}

func (l *spanLog) AddEvent(name string, _ ...slog.Attr) { l.lines = append(l.lines, name) }
func (l *spanLog) End(err error, attrs ...slog.Attr) {
	l.lines = append(l.lines, fmt.Sprint("end ", err, attrs))
}

func TestSpans(t *testing.T) {
	const start = "start get[url.full=http://user:***@h/ url.scheme=http server.address=h server.port=80]"
	for _, c := range []struct {
		name  string
		do    fetch.DriverFunc
		read  func(io.ReadCloser)
		after []string // lines after the start
	}{
		{"complete", answerSpan(nil), readBody, []string{"connected", "end <nil> [http.response.status_code=200 network.protocol.name=http network.protocol.version=1.1 http.response.body.size=4]"}},
		{"closed early", answerSpan(nil), func(b io.ReadCloser) { b.Close() }, []string{"connected", "end <nil> [http.response.status_code=200 network.protocol.name=http network.protocol.version=1.1 http.response.body.size=0]"}},
		{"truncated", answerSpan(fetch.Truncated), readBody, []string{"connected", "end truncated [http.response.status_code=200 network.protocol.name=http network.protocol.version=1.1 http.response.body.size=4 error.type=truncated]"}},
		{"failed", func(context.Context, *fetch.Request) (*fetch.Response, error) { return nil, fetch.DNS }, nil,
			[]string{"end dns [error.type=dns]"}},
	} {
		l, outer := &spanLog{}, 0
		req := request("http://user:secret@h/")
		req.Trace = &trace.Trace{Phase: func(trace.Phase, net.Conn) { outer++ }}
		resp, err := Spans(l.start)(c.do).Do(t.Context(), req)
		if err == nil {
			c.read(resp.Body)
			resp.Body.Close()
		}
		if want := append([]string{start}, c.after...); !slices.Equal(l.lines, want) {
			t.Errorf("%s: got\n%s\nwant\n%s", c.name, strings.Join(l.lines, "\n"), strings.Join(want, "\n"))
		}
		if outer != len(c.after)-1 {
			t.Errorf("%s: the Trace of the caller got %d phases", c.name, outer)
		}
	}
}

func readBody(b io.ReadCloser) { io.Copy(io.Discard, b) }

// answerSpan returns a driver whose body has 4 bytes and then the error.
func answerSpan(err error) fetch.DriverFunc {
	return func(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
		if ctx.Value(spanKey{}) != "get" {
			return nil, fetch.Internal.Errorf("no span in the context")
		}
		req.Trace.Reached(trace.Connected, nil)
		var body io.Reader = strings.NewReader("text")
		if err != nil {
			body = io.MultiReader(body, failingReader{err})
		}
		return &fetch.Response{Code: 200, Proto: "HTTP/1.1", Body: io.NopCloser(body)}, nil
	}
}

type failingReader struct{ err error }

func (r failingReader) Read([]byte) (int, error) { return 0, r.err }
