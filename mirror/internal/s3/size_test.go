package s3

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/peer"
)

// TestUnknownSize reads an object from servers whose response to HEAD has no size.
// The object is not empty, and must not be read as an empty one.
func TestUnknownSize(t *testing.T) {
	for _, c := range []struct {
		name, field, value string
		want               fetch.Fault // or 0 for success
	}{
		{"size", "Content-Length", "5", 0},
		{"chunks", "Transfer-Encoding", "chunked", fetch.Protocol},
		{"nothing", "Connection", "close", fetch.Protocol},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodHead {
				raw(w, "HTTP/1.1 200 OK\r\n"+c.field+": "+c.value+"\r\n\r\n")
				return
			}
			w.Header().Set("Content-Range", "bytes 0-4/5")
			w.WriteHeader(http.StatusPartialContent)
			io.WriteString(w, "hello")
		}))
		s := openAs(t, strings.TrimPrefix(server.URL, "http://"), "warcs", environment(peer.User, peer.Password))
		o, err := s.Stat(t.Context(), "object")
		if fetch.FaultOf(err) != c.want || err == nil && o.Size != 5 {
			t.Errorf("%s: Stat: size %d, %v", c.name, o.Size, err)
		}
		f, err := s.Open(t.Context(), "object")
		if fetch.FaultOf(err) != c.want {
			t.Errorf("%s: Open: %v", c.name, err)
		}
		if err == nil {
			if text, err := io.ReadAll(io.NewSectionReader(f, 0, f.Size())); string(text) != "hello" && c.want == 0 || err != nil {
				t.Errorf("%s: read %q, %v", c.name, text, err)
			}
		}
		server.Close()
	}
}
