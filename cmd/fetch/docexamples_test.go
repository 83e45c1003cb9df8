package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/cmd/fetch/internal/app"
	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/internal/test/short"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// consoleLines returns the command lines of fetch in the code blocks of a page,
// without comments.
func consoleLines(text string) (lines []string) {
	text = strings.ReplaceAll(text, "\\\n", " ")
	for line := range strings.Lines(text) {
		line, ok := strings.CutPrefix(line, "    ")
		line = strings.TrimPrefix(line, "$ ")
		if !ok || !strings.HasPrefix(line, "fetch ") {
			continue
		}
		line, _, _ = strings.Cut(line, " #")
		lines = append(lines, strings.TrimSpace(line))
	}
	return lines
}

// shellWords splits a command line at spaces outside quotation marks. It returns
// false if the line has other syntax of the shell.
func shellWords(line string) (words []string, ok bool) {
	word, quote, started := "", rune(0), false
	for _, c := range line {
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			word += string(c)
		case c == '\'' || c == '"':
			quote, started = c, true
		case strings.ContainsRune("|&;<>$()`", c):
			return nil, false
		case c == ' ':
			if word != "" || started {
				words = append(words, word)
			}
			word, started = "", false
		default:
			word += string(c)
		}
	}
	if word != "" || started {
		words = append(words, word)
	}
	return words, quote == 0
}

// TestConsoleLines parses the command lines in doc/*.md and README.md, and runs
// those that retrieve http, https and ftp URLs. A local server answers all
// requests as a proxy.
func TestConsoleLines(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/") {
			w.Header().Set("Content-Type", "text/html")
			io.WriteString(w, "<html><title>Index of /</title><h1>Index of /</h1><pre><a href=\"../\">..</a>\n<a href=\"a.tar.gz\">a.tar.gz</a> 01-Jan-2026 10:00 5\n</pre>")
			return
		}
		w.Header().Set("ETag", `"v1"`)
		http.ServeContent(w, r, "", time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), strings.NewReader("12345"))
	}))
	defer s.Close()
	pages, err := filepath.Glob("../../doc/*.md")
	if err != nil {
		t.Fatal(err)
	}
	parsed, ran := 0, 0
	for _, page := range append(pages, "../../README.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range consoleLines(string(text)) {
			words, ok := shellWords(line)
			if !ok || strings.Contains(line, "=HEX") {
				continue
			}
			parsed++
			if err := parseCommand(words[1:]); err != nil {
				t.Errorf("%s: %s: %v", filepath.Base(page), line, err)
				continue
			}
			if !isRunnable(line, words) {
				continue
			}
			ran++
			t.Run(line, func(t *testing.T) {
				short.Sample(t, 4)
				if testing.Short() && slices.Contains(words, "--render") {
					t.Skip("starts a browser")
				}
				dir := t.TempDir()
				t.Chdir(dir)
				if err := os.WriteFile("urls.txt", []byte("http://example.org/a\n"), 0o644); err != nil {
					t.Fatal(err)
				}
				args := strings.Split(strings.ReplaceAll(strings.Join(words[1:], "\x00"), "https://", "http://"), "\x00")
				args = append(args, "-q", "--proxy", s.URL, "--retry", "0")
				var out, stderr bytes.Buffer
				if code := app.Run(args, strings.NewReader(""), &out, &stderr); code != 0 {
					t.Errorf("exit code %d: %s", code, &stderr)
				}
			})
		}
	}
	t.Logf("%d lines, %d of them run", parsed, ran)
	if parsed < 100 || ran < 10 {
		t.Errorf("%d lines, %d of them run", parsed, ran)
	}
}

// parseCommand parses the flags of a command line, without running it.
func parseCommand(args []string) error {
	tree := app.Commands(&console.Streams{Stdout: io.Discard, Stderr: io.Discard})
	tree.RegisterAll()
	cmd, rest, err := tree.Main.Find(args)
	if err != nil {
		return err
	}
	return cmd.ParseFlags(rest)
}

var (
	exampleURL  = regexp.MustCompile(`\b(?:https?|ftp)://[a-z.]*example\.(?:org|net|com)/`)
	anyURL      = regexp.MustCompile(`\b[a-z0-9.+]+://`)
	placeholder = regexp.MustCompile(`\b[A-Z]{3,}\b`)
)

// isRunnable reports whether a local http proxy can answer the requests of a
// command line.
func isRunnable(line string, words []string) bool {
	for _, m := range anyURL.FindAllString(line, -1) {
		if m != "http://" && m != "https://" && m != "ftp://" {
			return false
		}
	}
	if !exampleURL.MatchString(line) || placeholder.MatchString(line) {
		return false
	}
	for _, w := range words[1:] {
		switch name, _, _ := strings.Cut(w, "="); name {
		case "mirror", "serve", "frontier", "browse", "search", "pack", "export", "import", "index", "verify", "diff", "plan", "uri", "-u", "-n", "--user", "--netrc", "--cert", "--key",
			"--archive", "--proxy", "-x", "--metalink", "--mirror-url", "--signature", "--checksum", "--checksum-file", "--dav", "--gateway", "--ask",
			"-K", "--cacert", "--http3", "--resolve", "--wait", "--negotiate", "--aws-sigv4", "-z", "--input-file", "--warc-file", "--news-server", "--robots", "-r":
			return false
		}
		if strings.Contains(w, "ftp://") && (strings.Contains(w, "*") || strings.HasSuffix(w, "/")) {
			return false // a listing of an ftp server
		}
	}
	return true
}

// TestDocumentedDefaults compares the default values in doc/*.md with those of the
// flags.
func TestDocumentedDefaults(t *testing.T) {
	defaults := map[string][]string{}
	var visit func(*cobra.Command)
	visit = func(c *cobra.Command) {
		c.Flags().VisitAll(func(f *pflag.Flag) { defaults[f.Name] = append(defaults[f.Name], f.DefValue) })
		for _, sub := range c.Commands() {
			visit(sub)
		}
	}
	tree := app.Commands(&console.Streams{})
	tree.RegisterAll()
	visit(tree.Main)
	after := regexp.MustCompile("`(?:-[A-Za-z], )?--([a-z][a-z-]*)[^`]*`[^`\\n]*\\(default:? ([0-9][0-9,.]*)")
	before := regexp.MustCompile("([0-9][0-9,.]*)(?: [a-zA-Z%]+){1,4} \\(`--([a-z][a-z-]*)`\\)")
	pages, err := filepath.Glob("../../doc/*.md")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		check := func(name, value string) {
			found++
			want, err := strconv.ParseFloat(strings.ReplaceAll(strings.TrimRight(value, ".,"), ",", ""), 64)
			if err != nil {
				return
			}
			for _, text := range defaults[name] {
				got, err := strconv.ParseFloat(strings.TrimRight(text, "%smhMk"), 64)
				if err == nil && (got == want || got == 0) { // 0 stands for a default of the library
					return
				}
			}
			t.Errorf("%s: the default of --%s is %q, not %v", filepath.Base(page), name, defaults[name], fmt.Sprint(want))
		}
		for _, m := range after.FindAllStringSubmatch(string(text), -1) {
			check(m[1], m[2])
		}
		for _, m := range before.FindAllStringSubmatch(string(text), -1) {
			check(m[2], m[1])
		}
	}
	if found < 6 {
		t.Errorf("%d default values", found)
	}
}
