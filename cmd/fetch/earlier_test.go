package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/anyurl/fetch/cmd/fetch/internal/app"
	"github.com/anyurl/fetch/cmd/fetch/internal/commandtest"
)

// visited returns the result of each visit in a run, keyed by URL.
func visited(t *testing.T, dir string, run int) map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "crawl.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for line := range strings.Lines(string(text)) {
		var e struct {
			Run        int
			URL, State string
			Same       bool
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		if e.Run != run {
			continue
		}
		if found[e.URL] = e.State; e.Same {
			found[e.URL] += " same"
		}
	}
	return found
}

// TestEarlierContinues continues archives of an earlier version. Unchanged
// files are not stored again, and only new files are added.
func TestEarlierContinues(t *testing.T) {
	t.Parallel()
	for _, v := range earlierVersions {
		continueEarlier(t, v)
	}
}

// TestEarlierRecover loses the databases of archives of an earlier version and
// recovers them. The results of the next run are the same.
func TestEarlierRecover(t *testing.T) {
	t.Parallel()
	for _, v := range earlierVersions {
		continueEarlier(t, v, "fetch.db")
	}
}

// continueEarlier runs the archives of an earlier version, from which the given
// files are lost.
func continueEarlier(t *testing.T, v earlierVersion, lost ...string) {
	s := startEarlier(t, v)
	more := []string{"sub/new.txt", ".git/new", "sub/new with space.txt"}
	s.put(t, more...)
	const news = "news://news.test/"
	want := map[string]string{
		"http://http.test/robots.txt": "excluded", "http://http.test/pub/": "done",
		"ftp://ftp.test/pub/": "done", "ftp://ftp.test/pub/sub/": "done", "ftp://ftp.test/pub/.git/": "done",
		"gopher://gopher.test/1/pub":  "done",
		"nntp://news.test/local.test": "done", news + "100@test.example": "kept",
	}
	for _, name := range slices.Concat(v.names, more) {
		state := "done same"
		if strings.Contains(name, "new") {
			state = "done"
		}
		name = strings.ReplaceAll(name, " ", "%20")
		for _, at := range []string{"http://http.test/pub/", "ftp://ftp.test/pub/"} {
			want[at+name] = state
		}
		if name[0] != '.' {
			want["gopher://gopher.test/0/pub/"+name] = state
		}
	}
	for name, form := range archiveForms {
		dir := v.unpack(t, name)
		before := archivedBelow(t, dir)
		runFetch(t, 0, "verify", dir)
		for _, name := range lost {
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
			runFetch(t, 0, "recover", dir)
		}
		contains(t, runFetch(t, 0, "frontier", "dump", dir), `"gopher://gopher.test/0/pub/-rf"`)
		runFetch(t, 0, s.mirror(dir, form)...)
		runFetch(t, 0, "verify", dir)
		got := visited(t, dir, 2)
		for u, state := range want {
			if got[u] != state {
				t.Errorf("%s: state of %s is %q, want %q", name, u, got[u], state)
			}
			delete(got, u)
		}
		if len(got) > 0 {
			t.Errorf("%s: unexpected visits: %q", name, got)
		}
		if name == "warc" {
			boxes, err := filepath.Glob(filepath.Join(dir, "mail/news.test/local.test/new/*"))
			if len(boxes) != 4 || err != nil {
				t.Errorf("the Maildir has %d messages, %v", len(boxes), err)
			}
			continue
		}
		box, err := os.ReadFile(filepath.Join(dir, "mail/news.test/local.test.mbox"))
		if n := strings.Count(string(box), "\n\nNumber "); n != 4 || err != nil {
			t.Errorf("%s: the mbox has %d messages, %v", name, n, err)
		}
		hidden := map[int]string{1: "/.git/new", 2: "/%2Egit/new"}[v.layout]
		for file, text := range archivedBelow(t, dir) {
			if old, ok := before[file]; ok || strings.HasSuffix(file, "/sub/new.txt") || strings.HasSuffix(file, hidden) ||
				strings.HasSuffix(file, "/new%20with%20space.txt") || strings.Contains(file, "100@test.example") {
				if ok && text != old && !isListingFile(file) {
					t.Errorf("%s: %s has changed: %q", name, file, text)
				}
				continue
			}
			t.Errorf("%s: %s is new", name, file)
		}
		if n := len(archivedBelow(t, dir)); n != len(before)+9 {
			t.Errorf("%s: %d files in the tree, want %d and 9 new files", name, n, len(before))
		}
	}
}

func isListingFile(name string) bool {
	base := filepath.Base(name)
	return base == "index.html" || base == ".listing" || base == ".gophermap" || base == ".overview"
}

// TestTreeNames checks that the tree of a new archive contains no hidden file
// names and no names that start with a dash. Programs could read these files as
// configuration or options. A copy for browsing must not contain them either.
func TestTreeNames(t *testing.T) {
	t.Parallel()
	s := startEarlier(t, earlierVersions[0])
	for name, dir := range map[string]string{"a new archive": filepath.Join(t.TempDir(), "new"),
		"an earlier archive": s.unpack(t, "tree")} {
		copied := filepath.Join(t.TempDir(), "copy")
		for range 2 {
			runFetch(t, 0, s.mirror(dir, []string{"--browse", filepath.Join(copied, "tree")})...)
		}
		runFetch(t, 0, "verify", dir)
		files := archivedBelow(t, copied)
		if name == "a new archive" {
			for file, text := range archivedBelow(t, dir) {
				files[file] = text
			}
		}
		found := 0
		for file := range files {
			if strings.HasSuffix(file, "pub/%2Egit/config") || strings.HasSuffix(file, "pub/%2Drf") {
				found++
			}
			for part := range strings.SplitSeq(file, "/") {
				if strings.ContainsAny(part[:1], ".-") && !isListingFile(part) {
					t.Errorf("%s: unsafe name %s", name, file)
				}
			}
		}
		if found != 5 {
			t.Errorf("%s: found %d of 5 names", name, found)
		}
	}
}

// TestFileNames checks that a new archive keeps the names of files on an ftp
// server, also after it was recovered and healed, and in a copy for browsing.
func TestFileNames(t *testing.T) {
	t.Parallel()
	s := startEarlier(t, earlierVersions[1])
	dir, copied := filepath.Join(t.TempDir(), "new"), filepath.Join(t.TempDir(), "copy")
	form := []string{"--warc", "--browse", copied}
	runFetch(t, 0, s.mirror(dir, form)...)
	before := archivedBelow(t, dir)
	for name, want := range map[string]bool{
		"tree/ftp/ftp.test/pub/name with space.txt": true, "tree/ftp/ftp.test/pub/%2Drf": true,
		"tree/http/http.test/pub/name%20with%20space.txt": true, "tree/ftp/ftp.test/pub/name%20with%20space.txt": false,
	} {
		if _, ok := before[name]; ok != want {
			t.Errorf("%s: %v, want %v", name, ok, want)
		}
	}
	page, err := os.ReadFile(filepath.Join(copied, "ftp/ftp.test/pub/index.html"))
	if err != nil || !strings.Contains(string(page), `name%20with%20space.txt`) {
		t.Errorf("the copy of the folder has no link to the file: %v\n%s", err, page)
	}
	if err := errors.Join(os.Remove(filepath.Join(dir, "fetch.db")),
		os.Remove(filepath.Join(dir, "tree/ftp/ftp.test/pub/name with space.txt"))); err != nil {
		t.Fatal(err)
	}
	runFetch(t, 0, "recover", dir)
	runFetch(t, 10, "verify", "--heal", dir) // recover starts a new run
	s.put(t, "sub/new with space.txt")
	runFetch(t, 0, s.mirror(dir, form)...)
	runFetch(t, 0, "verify", dir)
	after := archivedBelow(t, dir)
	for name, text := range before {
		if after[name] != text && !isListingFile(name) {
			t.Errorf("%s has changed", name)
		}
	}
	if _, ok := after["tree/ftp/ftp.test/pub/sub/new with space.txt"]; !ok {
		t.Error("the recovered archive has another layout")
	}
}

// archivedBelow returns the files of archived, keyed by the path relative to
// dir.
func archivedBelow(t *testing.T, dir string) map[string]string {
	if _, err := os.Stat(filepath.Join(dir, "tree")); err != nil {
		return nil
	}
	files := map[string]string{}
	for name, text := range commandtest.Archived(t, dir) {
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			t.Fatal(err)
		}
		files[filepath.ToSlash(rel)] = text
	}
	return files
}

// TestEarlierReplay fetches URLs from the archives of an earlier version and
// verifies a WACZ file.
func TestEarlierReplay(t *testing.T) {
	t.Parallel()
	for _, v := range earlierVersions {
		v.testReplay(t)
	}
}

func (v earlierVersion) testReplay(t *testing.T) {
	wacz := filepath.Join(v.folder, "archive.wacz")
	runFetch(t, 0, "verify", wacz)
	for _, from := range []string{wacz, v.unpack(t, "warc"), v.unpack(t, "both")} {
		for _, u := range []string{"http://http.test/pub/-rf", "ftp://ftp.test/pub/-rf",
			"gopher://gopher.test/0/pub/-rf"} {
			if got := strings.TrimRight(runFetch(t, 0, "--archive", from, u), "\r\n."); got != "contents of -rf" {
				t.Errorf("%s: %s: unexpected contents %q", from, u, got)
			}
		}
		contains(t, runFetch(t, 0, "--archive", from, "news://news.test/1@test.example"), "Number 1\r\n")
		for _, u := range []string{"ftp://ftp.test/pub/", "gopher://gopher.test/1/pub"} {
			contains(t, runFetch(t, 0, "--archive", from, "ls", u), "one.txt", "-rf")
		}
		contains(t, runFetch(t, 0, "--archive", from, "ls", "--json", "nntp://news.test/local.test"), "1@test.example")
		runFetch(t, 8, "--archive", from, "http://http.test/pub/none")
	}
	dir := v.unpack(t, "both")
	files, err := filepath.Glob(filepath.Join(dir, "warc/*.warc.gz"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	runFetch(t, 0, append([]string{"verify"}, files...)...)
	contains(t, runFetch(t, 0, "ls", files[0]), "ftp://ftp.test/pub/one.txt")
	runFetch(t, 0, "index", dir)
	again := filepath.Join(t.TempDir(), "again.wacz")
	runFetch(t, 0, "pack", dir, "--wacz", again)
	runFetch(t, 0, "verify", again, dir)
}

// TestEarlierConfig reads the config.toml of an earlier version.
func TestEarlierConfig(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(earlierVersions[0].folder, "config.toml"))
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", home)
	path := filepath.Join(home, "fetch/config.toml")
	if err = os.MkdirAll(filepath.Dir(path), 0o755); err == nil {
		err = os.WriteFile(path, text, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range [][]string{{"plan", "http://h.example/"}, {"plan", "wais://w.example/d?q"},
		{"mirror", "--help"}, {"uri", "parse", "http://h.example/"}} {
		var out, stderr bytes.Buffer
		if code := app.Run(command, strings.NewReader(""), &out, &stderr); code != 0 || stderr.Len() > 0 {
			t.Errorf("%q: exit code %d: %s", command, code, &stderr)
		}
		if command[1] == "http://h.example/" && command[0] == "plan" {
			contains(t, out.String(), "User-Agent: from config", "X-One: 1", "X-Two: 2")
		}
	}
}
