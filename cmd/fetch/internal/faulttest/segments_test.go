//go:build linux

package faulttest

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/anyurl/fetch/cmd/fetch/internal/commandtest"
)

// A rangeServer serves one body. It records the ranges of the requests, and
// calls onRequest with the number of each request before the response.
type rangeServer struct {
	*httptest.Server
	body      []byte
	onRequest func(n int)

	mu     sync.Mutex
	ranges []string
}

func serveRanges(t *testing.T, body []byte) *rangeServer {
	s := &rangeServer{body: body, onRequest: func(int) {}}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.ranges = append(s.ranges, r.Header.Get("Range"))
		n, onRequest := len(s.ranges), s.onRequest
		s.mu.Unlock()
		onRequest(n)
		w.Header().Set("ETag", `"1"`)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(s.body))
	}))
	t.Cleanup(s.Close)
	return s
}

// reset clears the recorded ranges and sets the function for the following
// requests.
func (s *rangeServer) reset(onRequest func(n int)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ranges, s.onRequest = nil, onRequest
}

func (s *rangeServer) requested() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ranges
}

// killedInSegments kills fetch at the nth request of a download in four
// parallel segments. The output file must not exist then. The same command must
// resume at the last checkpoint and complete the file.
func killedInSegments(t *testing.T, l *lab) {
	body := serve(t).body("/60000000") // 15 segments
	s := serveRanges(t, body)
	dir := commandtest.Folder(t)
	out := filepath.Join(dir, "out")
	args := []string{"-q", "--segments", "4", "-C", "-", "-o", out, s.URL + "/f"}
	continued := 0
	for nth := 1; nth <= 15; nth += max(1, 6/l.calls) {
		clearFolder(t, dir)
		started := make(chan *commandtest.Process, 1)
		s.reset(func(n int) {
			if n == nth {
				(<-started).Process.Kill()
			}
		})
		p := commandtest.Start(t, exec.Command(l.fetch, args...))
		started <- p
		if e := p.Wait(t); e.Code != 128+int(syscall.SIGKILL) {
			t.Fatalf("killed at segment %d: %v", nth, e)
		}
		if commandtest.Content(t, out) != "" {
			t.Errorf("killed at segment %d: the file exists and has %d bytes", nth, len(commandtest.Content(t, out)))
		}
		s.reset(func(int) {})
		if e := l.run(t, args...); e.Code != 0 || commandtest.Content(t, out) != string(body) || commandtest.FileNames(t, dir) != "out" {
			t.Fatalf("killed at segment %d, next attempt: %v, %d bytes, files %s", nth, e, len(commandtest.Content(t, out)),
				commandtest.FileNames(t, dir))
		}
		ranges := s.requested()
		if len(ranges) < 2 {
			t.Errorf("killed at segment %d: the next attempt requested %q", nth, ranges)
		}
		if !strings.HasPrefix(ranges[0], "bytes=0-") {
			continued++
		}
	}
	if continued == 0 {
		t.Error("no attempt resumed an earlier one")
	}
}
