package wrap_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/trace"
	web "github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/wrap"
)

// A printedSpan prints the events of a request. An adapter for OpenTelemetry
// calls the methods AddEvent, RecordError, SetAttributes and End of a span of
// package go.opentelemetry.io/otel/trace instead.
type printedSpan struct{ name string }

func startSpan(ctx context.Context, name string, attrs ...slog.Attr) (context.Context, trace.Span) {
	fmt.Println("start", name, attrs[1])
	return ctx, printedSpan{name}
}

func (s printedSpan) AddEvent(name string, _ ...slog.Attr) { fmt.Println("event", name) }

func (s printedSpan) End(err error, attrs ...slog.Attr) { fmt.Println("end", s.name, err, attrs[0]) }

// This example prints the span of a request.
func ExampleSpans() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "hello") }))
	defer server.Close()
	client := fetch.New(fetch.Options{
		Policy: fetch.Typed(), Wrap: wrap.Standard(wrap.Options{Spans: startSpan}),
	}, web.Schemes(web.Options{})...)
	defer client.Close()
	resp, err := client.Get(context.Background(), server.URL)
	if err != nil {
		log.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		log.Fatal(err)
	}
	// Output:
	// start get url.scheme=http
	// event resolved
	// event connected
	// event request sent
	// event first byte
	// end get <nil> http.response.status_code=200
}

// This example writes log records as JSON. Any slog.Handler can be used.
func ExampleLog() {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	keep := map[string]bool{"msg": true, "op": true, "scheme": true, "fault": true}
	handler := slog.NewJSONHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if !keep[a.Key] { // the others, such as the duration, differ in each run
			return slog.Attr{}
		}
		return a
	}})
	client := fetch.New(fetch.Options{
		Policy: fetch.Typed(), Wrap: wrap.Standard(wrap.Options{Log: slog.New(handler)}),
	}, web.Schemes(web.Options{})...)
	defer client.Close()
	if _, err := client.Get(context.Background(), server.URL); err != nil {
		fmt.Println(fetch.FaultOf(err))
	}
	// Output:
	// {"msg":"response","op":"get","scheme":"http","fault":"not-found"}
	// {"msg":"body","op":"get","scheme":"http"}
	// not-found
}
