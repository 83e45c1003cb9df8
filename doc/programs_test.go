package doc

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/anyurl/fetch/internal/test/peer"
)

// maxLines limits the lines of a program with its imports, without blank lines.
const maxLines = 24

var mainProgram = regexp.MustCompile("(?s)```go\n(package main\n.*?)```")

// programs returns the complete programs of a page.
func programs(t *testing.T, page string) (all []string) {
	t.Helper()
	text, err := files.ReadFile(page + ".md")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range mainProgram.FindAllSubmatch(text, -1) {
		all = append(all, string(m[1]))
	}
	return all
}

// lines returns the number of lines of a program without blank lines.
func lines(program string) (n int) {
	for line := range strings.Lines(program) {
		if strings.TrimSpace(line) != "" {
			n++
		}
	}
	return n
}

// build builds a program without symbols and returns its path.
func build(t *testing.T, program string) string {
	t.Helper()
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("the command go is missing")
	}
	dir := t.TempDir()
	source := filepath.Join(dir, "main.go")
	if err := os.WriteFile(source, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(goTool, "build", "-trimpath", "-ldflags=-s -w", "-o", filepath.Join(dir, "program"), source)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return filepath.Join(dir, "program")
}

// command returns a command that runs program n of a page in a new directory.
func command(t *testing.T, page string, n int, args ...string) *exec.Cmd {
	t.Helper()
	if testing.Short() {
		t.Skip("builds a program")
	}
	all := programs(t, page)
	if n >= len(all) {
		t.Fatalf("%s has %d programs", page, len(all))
	}
	if got := lines(all[n]); got > maxLines {
		t.Errorf("program %d of %s has %d lines", n, page, got)
	}
	cmd := exec.CommandContext(t.Context(), build(t, all[n]), args...)
	cmd.Dir = t.TempDir()
	return cmd
}

// runProgram runs a program of a page and returns its output.
func runProgram(t *testing.T, page string, args ...string) (output, dir string) {
	t.Helper()
	cmd := command(t, page, 0, args...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return string(out), cmd.Dir
}

// TestSizes checks the sizes of small programs that library.md promises.
func TestSizes(t *testing.T) {
	if testing.Short() || runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("builds two programs for linux/amd64")
	}
	for _, c := range []struct {
		imports, use string
		limit        int64 // in bytes
	}{
		{`"github.com/anyurl/fetch/save"; "github.com/anyurl/fetch/schemes/ftp"; "github.com/anyurl/fetch/schemes/http"`,
			"_, _ = save.Get(ctx, fetch.New(fetch.Options{}, append(http.Schemes(http.Options{}), ftp.Schemes(ftp.Options{})...)...), \"\", \"\")", 9e6},
		{`"github.com/anyurl/fetch/mirror"; "github.com/anyurl/fetch/schemes"`,
			"_, _ = mirror.Run(ctx, mirror.Options{Client: schemes.NewClient(fetch.Typed())})", 21e6},
	} {
		program := "package main\nimport (\"context\"; \"github.com/anyurl/fetch/fetch\"; " + c.imports + ")\n" +
			"func main() { ctx := context.Background(); " + c.use + " }\n"
		info, err := os.Stat(build(t, program))
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %d bytes", c.imports, info.Size())
		if info.Size() > c.limit {
			t.Errorf("a program with %s has %d bytes, more than %d", c.imports, info.Size(), c.limit)
		}
	}
}

func TestDownloadProgram(t *testing.T) {
	object := bytes.Repeat([]byte("0123456789"), 10_000)
	cut := true // the first response ends early, and the program resumes it
	var ranges []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ranges = append(ranges, r.Header.Get("Range"))
		w.Header().Set("ETag", `"v1"`)
		if cut {
			cut = false
			w.Header().Set("Content-Length", "100000")
			w.Write(object[:40_000])
			return
		}
		http.ServeContent(w, r, "x", time.Time{}, bytes.NewReader(object))
	}))
	defer s.Close()
	out, dir := runProgram(t, "library-downloads", s.URL, "file")
	if got, err := os.ReadFile(filepath.Join(dir, "file")); err != nil || !bytes.Equal(got, object) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if !strings.HasPrefix(out, "0 of 100000 bytes\n") || !strings.Contains(out, "\n100000 of 100000 bytes, ") || !strings.HasSuffix(out, " bytes/s, 0s left\n") {
		t.Errorf("got %s", out)
	}
	if len(ranges) != 2 || ranges[1] != "bytes=40000-" {
		t.Errorf("requests for %q", ranges)
	}
}

func TestListProgram(t *testing.T) {
	s := peer.Vsftpd(t, peer.FTPOptions{})
	s.Put("a.txt", []byte("x"))
	s.Put("sub/b.txt", []byte("y"))
	if got, _ := runProgram(t, "library-listings", "ftp://"+s.Addr+"/"); got != ".\na.txt\nsub\nsub/b.txt\n" {
		t.Errorf("got %q", got)
	}
}

func TestCrawlProgram(t *testing.T) {
	site := fstest.MapFS{"index.html": {Data: []byte(`<a href="a.txt">a</a> <a href="b.pdf">b</a>`)}, "a.txt": {Data: []byte("text")}, "b.pdf": {}}
	s := httptest.NewServer(http.FileServerFS(site))
	defer s.Close()
	if got, _ := runProgram(t, "library-crawls", s.URL+"/"); !strings.HasPrefix(got, "2 objects: map[http") || !strings.HasSuffix(got, "<nil>\n") {
		t.Errorf("got %q", got)
	}
}

func TestRecordProgram(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "welcome\n") }))
	defer s.Close()
	if got, _ := runProgram(t, "library-archives", s.URL+"/"); got != "welcome\n"+s.URL+"/ text/plain; charset=utf-8 8 <nil>\n" {
		t.Errorf("got %q", got)
	}
}

func TestShelfProgram(t *testing.T) {
	cmd := command(t, "library-archives", 1)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	line, _ := bufio.NewReader(out).ReadString('\n')
	count, url, ok := strings.Cut(strings.TrimSpace(line), " objects at ")
	url, failed, _ := strings.Cut(url, " ")
	if !ok || count != "2" || failed != "<nil>" {
		t.Fatalf("got %q", line)
	}
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if page, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != 200 || !strings.Contains(string(page), "shelf") {
		t.Errorf("status %d, %v: %.300s", resp.StatusCode, err, page)
	}
	cmd.Process.Kill()
	cmd.Wait() // the error is that of the signal
}
