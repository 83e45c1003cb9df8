//go:build linux

package main_test

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
)

// pieceSite serves one body in parts, keeps the ranges that it is asked for,
// and calls each before it answers.
type pieceSite struct {
	*httptest.Server
	body []byte
	each func(n int)

	mu     sync.Mutex
	ranges []string
}

func servePieces(t *testing.T, body []byte) *pieceSite {
	s := &pieceSite{body: body, each: func(int) {}}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.ranges = append(s.ranges, r.Header.Get("Range"))
		n, each := len(s.ranges), s.each
		s.mu.Unlock()
		each(n)
		w.Header().Set("ETag", `"1"`)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(s.body))
	}))
	t.Cleanup(s.Close)
	return s
}

// watch forgets what was asked for, and has each called from now on.
func (s *pieceSite) watch(each func(n int)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ranges, s.each = nil, each
}

func (s *pieceSite) asked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ranges
}

// killedInSegments: a process that brings one body by four requests at a time
// is killed when it asks for its nth piece. There is no file then; the same
// command goes on where the last checkpoint is, and the file is whole.
func killedInSegments(t *testing.T, l *lab) {
	body := serve(t).body("/60000000") // 15 pieces
	s := servePieces(t, body)
	dir := open(t)
	out := filepath.Join(dir, "out")
	args := []string{"-q", "--segments", "4", "-C", "-", "-o", out, s.URL + "/f"}
	continued := 0
	for nth := 1; nth <= 15; nth += max(1, 6/l.calls) {
		clearFolder(t, dir)
		started := make(chan *process, 1)
		s.watch(func(n int) {
			if n == nth {
				(<-started).Process.Kill()
			}
		})
		p := start(t, exec.Command(l.fetch, args...))
		started <- p
		if e := p.wait(t); e.code != 128+int(syscall.SIGKILL) {
			t.Fatalf("killed at piece %d: %v", nth, e)
		}
		if content(t, out) != "" {
			t.Errorf("killed at piece %d: the file holds %d bytes", nth, len(content(t, out)))
		}
		s.watch(func(int) {})
		if e := l.run(t, args...); e.code != 0 || content(t, out) != string(body) || names(t, dir) != "out" {
			t.Fatalf("killed at piece %d, the next attempt: %v, %d bytes, %s", nth, e, len(content(t, out)), names(t, dir))
		}
		asked := s.asked()
		if len(asked) < 2 {
			t.Errorf("killed at piece %d, the next attempt asked for %q", nth, asked)
		}
		if !strings.HasPrefix(asked[0], "bytes=0-") {
			continued++
		}
	}
	if continued == 0 {
		t.Error("no attempt went on where another had ended")
	}
}
