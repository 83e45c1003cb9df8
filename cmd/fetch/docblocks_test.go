package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/cmd/fetch/internal/app"
	"github.com/anyurl/fetch/internal/test/peer"
)

// A docBlock is a code block of a page, whose commands a test runs in order.
type docBlock struct {
	page, first string // the name of the page, and the first command of the block
	prepare     string // a command that runs before the block, or ""
	stdin       string
	codes       map[string]int // exit codes other than 0, by the arguments or by the first argument
	exact       bool           // the output is that of the page
	want        string         // a text of the output, or ""
}

var docBlocks = []docBlock{
	{page: "README.md", first: "fetch mirror gopher://gopher.example.org/", want: "no damage found"},
	{page: "doc/mirroring.md", first: "fetch mirror --warc gopher://gopher.example.org/", want: "the archive is gopher.example.org/"},
	{page: "doc/mirroring.md", first: "fetch mirror --output-dir example.org --warc", want: "the seeds are those of options.json: http://example.org/"},
	{page: "doc/archive-tasks.md", first: "fetch recover example.org", prepare: "fetch mirror --output-dir example.org --warc http://example.org/docs/",
		want: "the new database has"},
	{page: "doc/archive-tasks.md", first: "fetch mirror --browse copy gopher://gopher.example.org/", want: "run 1"},
	{page: "doc/text-search.md", first: "fetch index --text example.org", prepare: "fetch mirror --output-dir example.org --warc http://example.org/",
		want: "The first landing"},
	{page: "doc/listings.md", first: "fetch ls ftp://ftp.example.org/pub/ | cat", exact: true},
	{page: "doc/listings.md", first: "fetch find ftp://ftp.example.org/pub/", codes: map[string]int{"diff": 8}, exact: true},
	{page: "doc/listings.md", first: "fetch browse gopher://gopher.example.org/", stdin: "1\nq\n", want: "Welcome to this server."},
}

// blockOf returns the code block of a page that begins with a command.
func blockOf(t *testing.T, page, first string) (lines []string) {
	t.Helper()
	text, err := os.ReadFile("../../" + page)
	if err != nil {
		t.Fatal(err)
	}
	_, block, ok := strings.Cut(string(text), "\n    $ "+first)
	if !ok {
		t.Fatalf("%s has no block with %s", page, first)
	}
	for line := range strings.Lines("    $ " + first + block) {
		line, ok := strings.CutPrefix(line, "    ")
		if !ok {
			break
		}
		lines = append(lines, strings.TrimSuffix(line, "\n"))
	}
	return lines
}

// consoleOf returns the lines of all code blocks of a page that begin with a
// command.
func consoleOf(t *testing.T, page string) (lines []string) {
	t.Helper()
	text, err := os.ReadFile("../../" + page)
	if err != nil {
		t.Fatal(err)
	}
	inside := false
	for line := range strings.Lines(string(text)) {
		code, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "    ")
		if inside = ok && (inside || strings.HasPrefix(code, "$ ")); inside {
			lines = append(lines, code)
		}
	}
	return lines
}

// docServers starts a server for each host of the blocks, and returns the flags
// that connect to them. No other host can be reached.
func docServers(t *testing.T) []string {
	gopher, ftp := peer.Gophernicus(t, peer.GophernicusOptions{}), peer.Proftpd(t, peer.FTPOptions{})
	gopher.Put("gophermap", []byte("Welcome to this server.\n1Docs\tdocs\n0About\tabout.txt\n"))
	gopher.Put("docs/note.txt", []byte("a note\n"))
	gopher.Put("about.txt", []byte("about this server\n"))
	ftp.Put("pub/docs/new.txt", make([]byte, 1200))
	ftp.Put("pub/docs/old.txt", make([]byte, 50_000))
	disk := ftp.Put("pub/disk.iso", nil)
	for name, at := range map[string]string{disk: "2026-04-30T09:15:00Z", filepath.Join(filepath.Dir(disk), "docs"): "2026-05-01T12:00:00Z"} {
		when, err := time.Parse(time.RFC3339, at)
		if err == nil && name == disk {
			err = os.Truncate(disk, 12_288_000)
		}
		if err == nil {
			err = os.Chtimes(name, when, when)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	web := httptest.NewServer(http.HandlerFunc(docSite))
	t.Cleanup(web.Close)
	flags := []string{"--allow-address", "127.0.0.1", "--retry", "0"}
	for host, addr := range map[string]string{
		"gopher.example.org:70": gopher.Addr, gopher.Addr: gopher.Addr, "ftp.example.org:21": ftp.Addr, "example.org:80": web.Listener.Addr().String(),
	} {
		flags = append(flags, "--connect-to", host+":"+addr)
	}
	nobody, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody.Close()
	return append(flags, "--connect-to", "::"+nobody.Addr().String())
}

// writeDocFiles writes the local files of the blocks to the current folder.
func writeDocFiles(t *testing.T) {
	t.Helper()
	if err := os.MkdirAll("pub/docs", 0o755); err != nil {
		t.Fatal(err)
	}
	for name, size := range map[string]int64{"pub/disk.iso": 12_000_000, "pub/docs/old.txt": 50_000} {
		if err := os.WriteFile(name, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(name, size); err != nil {
			t.Fatal(err)
		}
	}
}

// docSite answers for the web server of the blocks.
func docSite(w http.ResponseWriter, r *http.Request) {
	send := func(media, body string) {
		w.Header().Set("Content-Type", media)
		w.Header().Set("ETag", fmt.Sprintf(`"%x"`, sha256.Sum256([]byte(body))))
		http.ServeContent(w, r, "", time.Time{}, strings.NewReader(body))
	}
	image := strings.Repeat("disk", 500_000)
	switch r.URL.Path {
	case "/robots.txt":
		http.NotFound(w, r)
	case "/disk.iso":
		send("application/octet-stream", image)
	case "/SHA256SUMS":
		send("text/plain", fmt.Sprintf("%x  disk.iso\n", sha256.Sum256([]byte(image))))
	case "/app/":
		send("text/html", `<!DOCTYPE html><title>Notes</title><ul id="list"></ul><script>
fetch("notes.json").then(r => r.json()).then(notes => notes.forEach(n => {
	const item = document.createElement("li");
	item.textContent = n;
	document.getElementById("list").append(item);
}))</script>
`)
	case "/app/notes.json":
		send("application/json", `["buy tea","water the plants"]`+"\n")
	default:
		send("text/html", `<title>The first landing</title><p>how the moon landing was planned <a href="/docs/a.html">a</a>`+"\n")
	}
}

// TestDocBlocks runs code blocks about mirrors, searches, the browser and ftp with
// local servers.
func TestDocBlocks(t *testing.T) {
	if testing.Short() {
		t.Skip("starts servers")
	}
	flags := docServers(t)
	t.Setenv("PAGER", "")
	for _, b := range docBlocks {
		t.Run(b.page+" "+b.first, func(t *testing.T) {
			lines := blockOf(t, b.page, b.first)
			t.Chdir(t.TempDir())
			writeDocFiles(t)
			if b.prepare != "" {
				runDocLine(t, b, b.prepare, flags)
				os.Remove("example.org/fetch.db") // lost, if the block recovers it
			}
			var got, want strings.Builder
			for _, line := range lines {
				line, isCommand := strings.CutPrefix(line, "$ ")
				if !isCommand {
					want.WriteString(line + "\n")
				} else if strings.HasPrefix(line, "fetch ") {
					got.WriteString(runDocLine(t, b, line, flags))
				}
			}
			if b.exact && got.String() != want.String() {
				t.Errorf("the output is\n%s\nand on the page\n%s", got.String(), want.String())
			}
			if !strings.Contains(got.String(), b.want) {
				t.Errorf("the output lacks %q:\n%s", b.want, got.String())
			}
		})
	}
}

// tutorials are the pages whose commands TestTutorials runs from the first to the
// last in one folder.
var tutorials = []docBlock{
	{page: "doc/tutorial-download.md", codes: map[string]int{"-o": 11}},
	{page: "doc/tutorial-mirror.md"},
	{page: "doc/tutorial-scripts.md"},
	{page: "doc/tutorial-search.md", codes: map[string]int{"search --text moon tea leaves": 8}},
	{page: "doc/tutorial-ftp.md", codes: map[string]int{"diff": 8}},
}

// TestTutorials runs the commands of the tutorials, and compares their output with
// that of the pages, except for times and sizes. A command without output on its
// page is only run.
func TestTutorials(t *testing.T) {
	if testing.Short() {
		t.Skip("starts servers and a browser")
	}
	flags := docServers(t)
	for _, b := range tutorials {
		t.Run(b.page, func(t *testing.T) {
			if strings.HasSuffix(b.page, "scripts.md") {
				peer.Need(t, "chromium", "chromium")
			}
			lines := consoleOf(t, b.page)
			t.Chdir(t.TempDir())
			writeDocFiles(t)
			for len(lines) > 0 {
				line, want := lines[0], ""
				for lines = lines[1:]; len(lines) > 0 && !strings.HasPrefix(lines[0], "$ "); lines = lines[1:] {
					want += lines[0] + "\n"
				}
				got := runDocLine(t, b, strings.TrimPrefix(line, "$ "), flags)
				if want != "" && strings.TrimSuffix(withoutSizes(got), "\n") != strings.TrimSuffix(withoutSizes(want), "\n") {
					t.Errorf("%s: the output is\n%s\nand on the page\n%s", line, got, want)
				}
			}
		})
	}
}

// withoutSizes replaces the values in an output that differ between runs.
func withoutSizes(text string) string {
	text = regexp.MustCompile(`\d{4}-\d\d-\d\d(T[0-9:.]+Z)?`).ReplaceAllString(text, "DATE")
	text = regexp.MustCompile(`\(\d+(\.\d)? m?s\)`).ReplaceAllString(text, "(TIME)")
	text = regexp.MustCompile(`sha256=[0-9a-f]+`).ReplaceAllString(text, "DIGEST")
	text = regexp.MustCompile(`\d+(\.\d+)? (bytes|[KM]iB)`).ReplaceAllString(text, "SIZE")
	return strings.ReplaceAll(text, "https://", "http://")
}

// runDocLine runs a command of a block and returns its output, without that of a
// program after it in a pipe.
func runDocLine(t *testing.T, b docBlock, line string, flags []string) string {
	t.Helper()
	line, _, _ = strings.Cut(line, " #")
	line, _, _ = strings.Cut(line, " |")
	words, ok := shellWords(strings.ReplaceAll(line, "https://", "http://"))
	if !ok {
		t.Fatalf("the line %s has further syntax of the shell", line)
	}
	args := words[1:]
	switch args[0] {
	case "verify", "recover", "index", "pack", "screenshot":
	case "search":
		if strings.Contains(line, "://") {
			args = append(args, flags...)
		}
	default:
		args = append(args, flags...)
	}
	if args[0] == "mirror" {
		args = append(args, "--wait", "0")
	}
	var out, stderr bytes.Buffer
	want, ok := b.codes[strings.Join(words[1:], " ")]
	if !ok {
		want = b.codes[args[0]]
	}
	if code := app.Run(args, strings.NewReader(b.stdin), &out, &stderr); code != want {
		t.Errorf("%s: exit code %d: %s", line, code, &stderr)
	}
	return out.String() + stderr.String()
}
