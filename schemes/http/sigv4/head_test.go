package sigv4_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/anyurl/fetch/fetch"
	web "github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/schemes/http/s3"
	"github.com/anyurl/fetch/schemes/http/sigv4"
	"github.com/anyurl/fetch/uri"
)

// TestUnsupportedHead checks that the signature of a HEAD request is not sent with
// another method, and that the status of HEAD is reported. S3 sends 405 for a
// version that is a delete marker.
func TestUnsupportedHead(t *testing.T) {
	var methods []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		methods = append(methods, r.Method)
		if r.Header.Get("Authorization") == "" {
			t.Error("no signature")
		}
		w.WriteHeader(http.StatusMethodNotAllowed)
	}))
	defer s.Close()
	login := &fetch.Credential{User: "key", Password: "secret"}
	variables := map[string]string{"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret"}
	store := s3.Options{Endpoint: s.URL, Region: "us-east-1", Getenv: func(name string) string { return variables[name] }}
	all := append(web.Schemes(web.Options{}), s3.Schemes(store)...)
	client := fetch.New(fetch.Options{Policy: fetch.Typed()}, all...).With(sigv4.Middleware(sigv4.Options{Region: "us-east-1", Service: "s3"}))
	defer client.Close()
	for _, url := range []string{s.URL + "/bucket/key", "s3://bucket/key?versionId=x"} {
		methods = nil
		_, err := client.Do(t.Context(), &fetch.Request{URL: uri.MustParse(url), Op: fetch.Stat, Auth: login})
		var e *fetch.Error
		if !errors.As(err, &e) || e.Code != http.StatusMethodNotAllowed || !slices.Equal(methods, []string{"HEAD"}) {
			t.Errorf("%s: got %v after %q", url, err, methods)
		}
	}
}
