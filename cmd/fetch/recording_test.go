//go:build linux

package main_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/anyurl/fetch/cmd/fetch/internal/commandtest"
)

// recordingAddr is the address of the server in the recordings. It is fixed,
// because it appears in the recordings.
const recordingAddr = "127.0.0.1:18090"

// A recordedServer serves the objects of the recordings. The first responses
// with /disk.iso and /docs/b.html stop in the middle of the body.
type recordedServer struct {
	resume chan struct{} // continues a response with /docs/b.html
}

const recordedListing = `<html><head><title>Index of /pub/</title></head><body><h1>Index of /pub/</h1><pre>` +
	`<a href="../">../</a>
<a href="archive/">archive/</a>                     02-Jan-2024 03:04       -
<a href="disk.iso">disk.iso</a>                     02-Jan-2024 03:04   20971520
<a href="README">README</a>                       15-Mar-2024 12:00    1234
</pre></body></html>`

func (s *recordedServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	const size = 20 << 20
	switch r.URL.Path {
	case "/disk.iso":
		w.Header().Set("ETag", `"1"`)
		first := 0
		if n, _ := fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-", &first); n == 1 {
			w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", first, size-1, size))
			w.Header().Set("Content-Length", fmt.Sprint(size-first))
			w.WriteHeader(http.StatusPartialContent)
			w.Write(make([]byte, size-first))
			return
		}
		w.Header().Set("Content-Length", fmt.Sprint(size))
		w.Write(make([]byte, size/2))
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	case "/pub/":
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, recordedListing)
	case "/docs/":
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, "<title>Docs</title><h1>Docs</h1><a href=a.html>first page</a> <a href=none.html>missing</a> <a href=b.html>second page</a>")
	case "/docs/a.html":
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, "<title>A</title>page a")
	case "/docs/b.html":
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Content-Length", fmt.Sprint(2<<20))
		w.Write(make([]byte, 1<<20))
		w.(http.Flusher).Flush()
		select {
		case <-s.resume:
			w.Write(make([]byte, 1<<20))
		case <-r.Context().Done():
		}
	default:
		http.NotFound(w, r)
	}
}

// A recorder records a terminal as text.
type recorder struct {
	*tmuxSession
	text strings.Builder
}

// clear clears the screen.
func (r *recorder) clear() {
	r.t.Helper()
	r.typeLine("clear")
	r.waitFor(func() bool { return strings.TrimSpace(r.run("capture-pane", "-p")) == "$" }, func() string { return "screen not clear" })
	r.run("clear-history")
}

// capture appends the screen to the recording.
func (r *recorder) capture(title string) {
	r.t.Helper()
	fmt.Fprintf(&r.text, "--- %s\n", title)
	for line := range strings.Lines(strings.TrimRight(r.run("capture-pane", "-p"), " \n") + "\n") {
		r.text.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	r.text.WriteString("\n")
}

// record uses fetch on a terminal as a person does.
func (r *recorder) record(server *recordedServer) {
	const url = "http://localhost:18090/"
	r.clear()
	r.typeLine("fetch -C - -o disk.iso " + url + "disk.iso")
	r.waitForText("10.0 MiB / 20.0")
	r.capture("fetch: a download in progress")
	r.press("C-c")
	r.waitForText("interrupt\n$")
	r.capture("fetch: after Control-C")
	r.clear()
	r.typeLine("fetch -C - -o disk.iso " + url + "disk.iso; ls -A")
	r.waitForText("disk.iso\n$")
	r.capture("fetch: the same command resumes the download")
	r.clear()
	r.typeLine("fetch -o a -o b " + url + "docs/a.html " + url + "none; echo $?")
	r.waitForText("\n8\n$")
	r.capture("fetch: one of two URLs fails")
	r.clear()
	r.typeLine("fetch gopher://localhost:6379/1; echo $?")
	r.waitForText("9\n$")
	r.capture("fetch: a URL that the policy denies")
	r.clear()
	r.typeLine("fetch ls " + url + "pub/")
	r.waitForText("README\n$")
	r.capture("ls: a directory page")
	r.clear()
	r.typeLine("fetch mirror --delay 0 --per-host 1 " + url + "docs/")
	r.waitForText("1.0 MiB")
	r.waitForText("2 new, 1 failed, 1 left") // the batch is committed, and only b.html remains
	r.capture("mirror: in progress")
	server.resume <- struct{}{}
	r.waitForText("lists them\n$")
	r.capture("mirror: the end of the run")
	r.clear()
	r.typeLine("fetch browse " + url + "pub/")
	r.waitForText("README")
	r.typeLine("q")
	r.waitForText("q\n$")
	r.capture("browse: a directory page, and the command q")
}

// variable matches the parts of a recording that differ from run to run. Bars
// and spaces adapt to the width of these parts.
var variable = regexp.MustCompile(`\S+ [KM]?i?B/s(  \d+:\d\d)?(  eta \d+:\d\d)?|\(\d+ ms\)|\(\d\.\d s\)|\[[=>-]+\]|…\S*|http://\S+`)

// fixedParts returns the lines of a recording without the variable parts.
func fixedParts(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(strings.Join(strings.Fields(variable.ReplaceAllString(line, " ")), " ") + "\n")
	}
	return b.String()
}

// TestRecordings checks that the recordings in doc/ show the current command.
// Rates and times may differ. With FETCH_RECORD=1, the test writes the
// recordings instead.
func TestRecordings(t *testing.T) {
	l, err := net.Listen("tcp", recordingAddr)
	if err != nil {
		t.Skipf("the address of the recordings is not available: %v", err)
	}
	server := &recordedServer{make(chan struct{})}
	s := httptest.NewUnstartedServer(server)
	s.Listener.Close()
	s.Listener = l
	s.Start()
	defer s.Close()
	program := commandtest.Fetch(t)
	for _, columns := range []string{"80", "160"} {
		t.Run(columns+" columns", func(t *testing.T) {
			r := &recorder{tmuxSession: newTmuxSession(t)}
			r.run("resize-window", "-x", columns, "-y", "24")
			home := t.TempDir()
			if err := os.Mkdir(filepath.Join(home, "bin"), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.Link(program, filepath.Join(home, "bin", "fetch")); err != nil {
				if out, err := exec.Command("cp", program, filepath.Join(home, "bin", "fetch")).CombinedOutput(); err != nil {
					t.Fatalf("%v: %s", err, out)
				}
			}
			r.typeLine("mkdir " + home + "/work; cd " + home + "/work; export HOME=" + home + " XDG_CONFIG_HOME=" + home +
				" TZ=UTC LC_ALL=C.UTF-8 PATH=" + home + "/bin:$PATH; unset PAGER; PS1='$ '")
			r.record(server)
			got := "A terminal of " + columns + " columns, recorded with tmux by TestRecordings (make recordings).\n\n" +
				strings.TrimSpace(r.text.String()) + "\n"
			file := filepath.Join("..", "..", "doc", "session-"+columns+".txt")
			if os.Getenv("FETCH_RECORD") != "" {
				if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(file)
			if err != nil || fixedParts(got) != fixedParts(string(want)) {
				t.Errorf("%v: the recording is outdated; run make recordings. The fixed parts are\n%s, want\n%s", err,
					fixedParts(got), fixedParts(string(want)))
			}
		})
	}
}
