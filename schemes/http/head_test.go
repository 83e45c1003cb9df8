package http

import (
	"testing"

	"github.com/anyurl/fetch/fetch"
)

// TestHTTP1Head checks the text of the head of an HTTP/2 response.
func TestHTTP1Head(t *testing.T) {
	x := &exchange{proto: "HTTP/2", code: 200, header: fetch.Header{{Name: "Etag", Value: `"V1"`}, {Name: "X-A", Value: "B"}}}
	if got, want := string(http1Head(x)), "HTTP/2 200 \r\netag: \"V1\"\r\nx-a: B\r\n\r\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
