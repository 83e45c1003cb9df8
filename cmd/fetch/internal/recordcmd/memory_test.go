package recordcmd_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"regexp"
	"strconv"
	"syscall"
	"testing"

	"github.com/anyurl/fetch/cmd/fetch/internal/commandtest"
)

// TestMemory checks that the memory does not depend on the sizes of bodies.
func TestMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("transfers a large body")
	}
	const size, limit = 96 << 20, 64 << 20
	dir := newDir(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, _ := io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Length", strconv.Itoa(size))
		for range size >> 20 {
			w.Write(make([]byte, 1<<20))
		}
		if r.Method == "POST" && n != size/4 {
			t.Errorf("the server received %d bytes", n)
		}
	}))
	defer server.Close()
	r := startCommand(t, dir, &exec.Cmd{Path: commandtest.Fetch(t), Args: []string{"fetch"}}, "--output-dir", "out")
	c := r.client(r.token)
	for _, method := range []string{"GET", "POST"} {
		request, err := http.NewRequest(method, server.URL+"/"+method, nil)
		if err != nil {
			t.Fatal(err)
		}
		if method == "POST" {
			request.Body, request.ContentLength = io.NopCloser(io.LimitReader(zeros{}, size/4)), size/4
		}
		resp, err := c.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		n, err := io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		if n != size || err != nil {
			t.Errorf("%s: %d bytes, %v", method, n, err)
		}
	}
	status := commandtest.Content(t, fmt.Sprintf("/proc/%d/status", r.process.Process.Pid))
	peak := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindStringSubmatch(status)
	if peak == nil {
		t.Skip("the system does not report the peak memory")
	}
	if kib, _ := strconv.Atoi(peak[1]); kib<<10 > limit {
		t.Errorf("peak memory: %d KiB", kib)
	} else {
		t.Logf("peak memory: %d KiB", kib)
	}
	if code := r.stop(syscall.SIGTERM); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// zeros is an endless sequence of zero bytes.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
