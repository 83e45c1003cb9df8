//go:build linux

package main_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/anyurl/fetch/cmd/fetch/internal/commandtest"
)

// TestStream checks that fetch writes a body to standard output as it arrives.
// The server sends a piece only after the test has read the piece before it.
func TestStream(t *testing.T) {
	const pieces = 4
	fetch := commandtest.Fetch(t)
	for _, c := range []struct {
		name     string
		args     []string
		terminal bool
	}{
		{"pipe", nil, false},
		{"pipe, HTTP/1.1", []string{"--http1.1", "--compressed", "-i"}, false},
		{"pipe, rate and retries", []string{"--limit-rate", "1M", "--retry", "2", "-v"}, false},
		{"terminal", nil, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			confirmed := make(chan int, pieces)
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/plain")
				for i := range pieces {
					fmt.Fprintf(w, "piece %d\n", i)
					w.(http.Flusher).Flush()
					select {
					case <-confirmed:
					case <-r.Context().Done():
						return
					}
				}
			}))
			defer s.Close()
			command := exec.Command(fetch, append([]string{"-s", s.URL + "/"}, c.args...)...)
			primary, secondary, err := os.Pipe()
			if c.terminal {
				primary, secondary = openTerminal(t)
			} else if err != nil {
				t.Fatal(err)
			}
			defer primary.Close()
			command.Stdout, command.Stderr = secondary, io.Discard
			if err := command.Start(); err != nil {
				t.Fatal(err)
			}
			secondary.Close()
			stop := time.AfterFunc(20*time.Second, func() { command.Process.Kill() })
			defer stop.Stop()
			out, seen := bufio.NewScanner(primary), 0
			for out.Scan() {
				if out.Text() == fmt.Sprintf("piece %d", seen) {
					confirmed <- seen
					seen++
				}
			}
			if err := command.Wait(); err != nil || seen != pieces {
				t.Errorf("%d of %d pieces, %v", seen, pieces, err)
			}
		})
	}
}
