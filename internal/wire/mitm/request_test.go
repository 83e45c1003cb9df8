package mitm

import (
	"context"
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
		if most != 3 || len(x.requests.all) != 0 {
			t.Errorf("%d requests at the same time, %d remain", most, len(x.requests.all))
		}
	})
}

// TestMaxClientRequests sends many requests of one client. They must not keep
// another client from using the proxy.
func TestMaxClientRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		running := map[string]int{}
		s := &Server{MaxRequests: 4, MaxClient: 3, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			running[r.RemoteAddr]++
			mu.Unlock()
			<-r.Context().Done()
		})}
		x := s.run(t.Context(), &net.TCPAddr{})
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		send := func(from string) {
			r := httptest.NewRequestWithContext(ctx, "GET", "http://a.example/", nil)
			r.RemoteAddr = from
			all.Go(func() { x.serveOuter(httptest.NewRecorder(), r) })
		}
		const many, one = "192.0.2.1:1000", "192.0.2.2:1000"
		for range 10 {
			send(many)
		}
		synctest.Wait()
		send(one)
		synctest.Wait()
		mu.Lock()
		if running[many] != 3 || running[one] != 1 {
			t.Errorf("running requests: %v", running)
		}
		mu.Unlock()
		cancel()
		all.Wait()
		if len(x.requests.all) != 0 || len(x.requests.clients) != 0 {
			t.Errorf("%d requests of %d clients remain", len(x.requests.all), len(x.requests.clients))
		}
	})
}
