package http_test

import (
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/wrap"
)

// TestServerRestarts stops a server within a body and starts it again. If the
// object has the same validator, the body is resumed. Otherwise the body is
// truncated and Read returns an error.
func TestServerRestarts(t *testing.T) {
	const tag, last = "ETag: \"v1\"\r\n", "Last-Modified: Fri, 02 Jan 2026 03:04:05 GMT\r\n"
	response := func(fields string) faultnet.Step {
		return faultnet.Send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n" + fields + "\r\nhello")
	}
	part := func(fields string) faultnet.Script {
		return faultnet.Script{
			faultnet.Expect(`^GET / HTTP/1.1\r\n(?s:.*)If-Range: "v1"\r\nRange: bytes=5-\r\n\r\n`),
			faultnet.Send("HTTP/1.1 206 x\r\nContent-Length: 5\r\nContent-Range: bytes 5-9/10\r\n" + fields + "\r\nworld"),
		}
	}
	changed := faultnet.Script{faultnet.Expect(`^GET (?s:.*)\r\n\r\n`), response("ETag: \"v2\"\r\n"), faultnet.Send("there")}
	for _, c := range []struct {
		name   string
		fields string        // header fields of the first response
		down   time.Duration // time without a server; attempts are one second apart
		then   faultnet.Script
		body   string
		want   fetch.Fault // zero for no error
	}{
		{"same object", tag, 500 * time.Millisecond, part(tag), "helloworld", 0},
		{"same object, connection refused once", tag, 1500 * time.Millisecond, part(tag), "helloworld", 0},
		{"same object, connection refused twice", tag, 2500 * time.Millisecond, part(tag), "hello", fetch.Truncated},
		{"changed object", tag, 500 * time.Millisecond, changed, "hello", fetch.Truncated},
		{"part of a changed object", tag, 500 * time.Millisecond, part("ETag: \"v2\"\r\n"), "hello", fetch.Truncated},
		{"no validator", "", 500 * time.Millisecond, changed, "hello", fetch.Truncated},
		{"date too recent for a validator", last + "Date: Fri, 02 Jan 2026 03:04:06 GMT\r\n", 500 * time.Millisecond, changed, "hello", fetch.Truncated},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				network := faultnet.NewNetwork(t)
				network.Serve("8.8.8.8:80",
					faultnet.Script{faultnet.Expect(`^GET / HTTP/1.1\r\n(?s:.*)\r\n\r\n`), response(c.fields), faultnet.Restart(c.down)}, c.then)
				client := fetch.New(fetch.Options{
					Policy: fetch.Typed(), Dial: network.Dial, Resolver: resolver{},
					Wrap: []fetch.Middleware{wrap.Retry(wrap.RetryOptions{Delay: time.Second})},
				}, http.Schemes(http.Options{})...)
				defer client.Close()
				resp, err := client.Do(t.Context(), newRequest("http://h/"))
				if err != nil {
					t.Fatal(err)
				}
				defer resp.Body.Close()
				body, err := io.ReadAll(resp.Body)
				if string(body) != c.body || (c.want == 0) != (err == nil) || c.want != 0 && !errors.Is(err, c.want) {
					t.Errorf("got %q, %v (%v), want %q, %v", body, err, fetch.FaultOf(err), c.body, c.want)
				}
			})
		})
	}
}
