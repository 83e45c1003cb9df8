package mitm

import (
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
)

// TestMaxRequests sends more requests than the Handler may answer at the same
// time. An HTTP/2 connection can have 100 requests.
func TestMaxRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		var mu sync.Mutex
		running, most := 0, 0
		count := func(n int) {
			mu.Lock()
			defer mu.Unlock()
			running += n
			most = max(most, running)
		}
		s := &Server{MaxRequests: 3, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			count(1)
			<-release
			count(-1)
		})}
		x := s.run(t.Context(), &net.TCPAddr{})
		var all sync.WaitGroup
		for range 10 {
			all.Go(func() { x.serveOuter(httptest.NewRecorder(), httptest.NewRequest("GET", "http://a.example/", nil)) })
		}
		synctest.Wait()
		if running != 3 {
			t.Errorf("%d requests are answered, want 3", running)
		}
		close(release)
		all.Wait()
		if most != 3 || len(x.requests) != 0 {
			t.Errorf("%d requests at the same time, %d remain", most, len(x.requests))
		}
	})
}
