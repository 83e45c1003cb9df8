//go:build linux

package main_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/anyurl/fetch/cmd/fetch/internal/commandtest"
)

// TestMirrorInterrupt sends Control-C to a mirror on a terminal. The first one
// completes the request in progress, the second one ends the command at once.
func TestMirrorInterrupt(t *testing.T) {
	fetch := commandtest.Fetch(t)
	for _, c := range []struct {
		oddity string
		times  int
		done   string // text of the summary
	}{
		{"once", 1, ": 2 new ("},
		{"twice", 2, ": 1 new ("},
	} {
		t.Run(c.oddity, func(t *testing.T) {
			slow, release := make(chan struct{}), make(chan struct{})
			begun := sync.OnceFunc(func() { close(slow) })
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/html")
				switch r.URL.Path {
				case "/":
					fmt.Fprint(w, "<a href=/a>a</a><a href=/b>b</a>")
				case "/robots.txt":
					http.NotFound(w, r)
				default:
					io.WriteString(w, "page")
					http.NewResponseController(w).Flush()
					begun()
					select {
					case <-release:
					case <-r.Context().Done():
					}
				}
			}))
			defer s.Close()
			primary, secondary := openTerminal(t)
			defer primary.Close()
			dir := t.TempDir()
			mirror := exec.Command(fetch, "mirror", "-q", "--per-host", "1", "--output-dir", dir, s.URL+"/")
			mirror.Env = append(os.Environ(), "TERM=xterm")
			mirror.Stdin, mirror.Stdout, mirror.Stderr = secondary, secondary, secondary
			mirror.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
			if err := mirror.Start(); err != nil {
				t.Fatal(err)
			}
			secondary.Close()
			<-slow
			var all strings.Builder
			buffer := make([]byte, 4096)
			typed := 0
			for {
				n, err := primary.Read(buffer)
				all.Write(buffer[:n])
				asked := strings.Contains(all.String(), "Control-C ends them")
				switch {
				case typed == 0, typed == 1 && asked && c.times == 2:
					typed++
					io.WriteString(primary, "\x03")
				case typed == 1 && asked:
					typed++
					close(release)
				}
				if err != nil {
					break
				}
			}
			mirror.Wait()
			got := all.String()
			if code := mirror.ProcessState.ExitCode(); code != 130 || !strings.Contains(got, c.done) || !strings.Contains(got, "run the same command again to continue") {
				t.Errorf("exit code %d, got %q", code, got)
			}
		})
	}
}

// TestMirrorHosts checks that a mirror of two hosts on a terminal shows a line for
// each active host, and a table at its end.
func TestMirrorHosts(t *testing.T) {
	fetch := commandtest.Fetch(t)
	var wait sync.WaitGroup
	wait.Add(2)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		wait.Done()
		wait.Wait()
		io.WriteString(w, "page")
	}))
	defer s.Close()
	other := strings.Replace(s.URL, "127.0.0.1", "localhost", 1)
	command := exec.Command(fetch, "mirror", "-q", "--output-dir", t.TempDir(), "--notify", `cat; echo "exit $FETCH_EXIT, new $FETCH_NEW"`, s.URL+"/", other+"/")
	command.Env = append(os.Environ(), "TERM=xterm")
	got := onTerminal(t, command)
	for _, want := range []string{"host                              new unchanged   failed   received", "\n127.0.0.1 ", "\nlocalhost ", `{"type":"summary",`, `"new":2,`, "exit 0, new 2"} {
		if !strings.Contains(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
