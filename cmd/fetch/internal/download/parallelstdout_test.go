package download_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/anyurl/fetch/cmd/fetch/internal/commandtest"
)

// TestParallelStdout checks that parallel jobs that write to standard output do
// not wait for each other. After the response over HTTP/2, more jobs than
// --per-host run. The second job is redirected to a host whose connections later
// jobs use, while these wait until the second job has ended.
func TestParallelStdout(t *testing.T) {
	const perHost = 2
	big := strings.Repeat("x", 1<<20) // exceeds the buffer of a job
	started := make(chan struct{}, 100)
	var now, most atomic.Int32
	old := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := now.Add(1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		started <- struct{}{}
		fmt.Fprint(w, r.URL.Path, big)
		now.Add(-1)
	}))
	old.StartTLS()
	defer old.Close()
	multiplexed := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/moved" {
			<-started // the other connection of the host is in use
			http.Redirect(w, r, old.URL+"/1", http.StatusFound)
			return
		}
		fmt.Fprint(w, r.URL.Path)
	}))
	multiplexed.EnableHTTP2 = true
	multiplexed.StartTLS()
	defer multiplexed.Close()
	args := []string{"-Z", "-k", "-s", "--per-host", fmt.Sprint(perHost), multiplexed.URL + "/first", multiplexed.URL + "/moved"}
	want := "/first/1" + big
	for i := 2; i < 10; i++ {
		args = append(args, fmt.Sprintf("%s/%d", old.URL, i))
		want += fmt.Sprintf("/%d%s", i, big)
	}
	if got := commandtest.Run(t, 0, args...); got != want {
		t.Errorf("got %d bytes, want %d, or in another order", len(got), len(want))
	}
	if n := most.Load(); n > perHost+1 {
		t.Errorf("%d requests at a time, want at most %d", n, perHost+1)
	}
}
