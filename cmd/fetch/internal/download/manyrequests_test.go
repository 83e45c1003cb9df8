package download_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anyurl/fetch/cmd/fetch/internal/commandtest"
)

// TestManyRequests checks that -Z loses no object if a distant server rejects more
// than ten requests at a time.
func TestManyRequests(t *testing.T) {
	var now atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer now.Add(-1)
		if now.Add(1) > 10 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		<-time.After(20 * time.Millisecond) // the distance
		fmt.Fprintln(w, r.URL.Path)
	}))
	defer s.Close()
	args, want := []string{"-Z", "-s", "--retry", "3", "--retry-delay", "0.1"}, ""
	for i := range 200 {
		args = append(args, fmt.Sprintf("%s/%d", s.URL, i))
		want += fmt.Sprintf("/%d\n", i)
	}
	if got := commandtest.Run(t, 0, args...); got != want {
		t.Errorf("got %d bytes, want %d", len(got), len(want))
	}
}
