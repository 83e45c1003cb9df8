package http_test

import (
	nethttp "net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/uri"
)

// TestSharedConnections checks that an exchange without a body releases its
// connection at once and does not use it afterwards. The race detector reports
// a violation.
func TestSharedConnections(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, _ *nethttp.Request) {
		w.Header().Set("Content-Length", "0")
	}))
	defer s.Close()
	client := fetch.New(fetch.Options{Policy: fetch.Typed()}, http.Schemes(http.Options{})...)
	defer client.Close()
	u := uri.MustParse(s.URL + "/")
	var requests sync.WaitGroup
	for range 32 {
		requests.Go(func() {
			for range 200 {
				resp, err := client.Do(t.Context(), &fetch.Request{URL: u})
				if err != nil {
					t.Error(err)
					return
				}
				resp.Body.Close()
			}
		})
	}
	requests.Wait()
}
