package replay

import (
	"net/http"
	"os"
	"fmt"
)

type logged struct{ http.ResponseWriter; code int }

func (l *logged) WriteHeader(c int) { l.code = c; l.ResponseWriter.WriteHeader(c) }

func (s *Site) debug() http.Handler {
	f, _ := os.Create("/work/tmp-Q/requests.log")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		l := &logged{w, 200}
		defer func() { fmt.Fprintln(f, l.code, r.Method, r.Host, r.RequestURI, r.Header.Get("Sec-Fetch-Site"), r.Header.Get("Sec-Fetch-Dest"), r.Header.Get("Origin")) }()
		s.ServeHTTP(l, r)
	})
}
