package crash

import (
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/anyurl/fetch/internal/test/filecalls"
)

// A scenario is a command that writes files.
type scenario struct {
	name string
	site func(*testing.T) string // returns the URL of a server

	// prepare writes the files that the command needs, or nil.
	prepare func(*testing.T, *trial)
	args    []string // URL and DIR stand for the URL and the folder
	then    []string // arguments of a second command, which uses the result of the first, or nil
	derived bool     // some files, such as mailboxes, are written again if they are lost
	shared  bool     // the arguments contain FRONTIER and STORE, the URLs of a database and of a store
	codes   []int    // further exit codes of a repetition of a command that had ended
}

// mirrorArgs are the arguments of a mirror with small WARC files.
func mirrorArgs(more ...string) []string {
	return append([]string{"mirror", "--ignore-robots", "--min-free", "0", "--warc-size", "100000", "--output-dir", "DIR/a", "URL"}, more...)
}

// sharedArgs are the arguments of a worker of a shared crawl.
func sharedArgs() []string {
	return mirrorArgs("--frontier", "FRONTIER", "--store", "STORE", "--worker", "w")
}

// scenarios returns all commands that write files.
func scenarios() []scenario {
	update := func(t *testing.T, tr *trial) {
		tr.must(t, mirrorArgs("--warc", "--delete", "--max-delete", "1"))
		tr.next(t)
	}
	return []scenario{
		{name: "mirror http, tree", site: web, args: mirrorArgs()},
		{name: "mirror http, WARC", site: web, args: mirrorArgs("--warc", "--no-tree")},
		{name: "mirror http, both", site: web, args: mirrorArgs("--warc")},
		{name: "mirror http, update", site: web, prepare: update, args: mirrorArgs("--warc", "--delete", "--max-delete", "1", "--record-unchanged")},
		{name: "mirror http, browsable copy", site: web, derived: true, args: mirrorArgs("--browse", "DIR/browse")},
		{name: "mirror ftp, both", site: ftp, args: mirrorArgs("--warc")},
		{name: "mirror gopher, both", site: gopher, args: mirrorArgs("--warc")},
		{name: "mirror news, tree and mailboxes", site: news, derived: true, args: mirrorArgs("--mailboxes", "mbox")},
		{name: "mirror news, WARC", site: news, args: mirrorArgs("--warc", "--no-tree")},
		{name: "download -O", site: web, args: []string{"-O", "URL/../300000"}},
		{name: "download -Z", site: web, prepare: filesFolder, args: []string{"-Z", "--output-dir", "DIR/files", "URL/../300001", "URL/../300002", "URL/../300003"}},
		{name: "download -C -", site: web, args: []string{"-C", "-", "-O", "URL/../9000000"}},
		{name: "download in segments", site: web, args: []string{"--segments", "3", "-C", "-", "-O", "URL/../9000001"}},
		{name: "download with WARC file", site: web, args: []string{"--warc-file", "DIR/one.warc.gz", "-O", "URL/../30000"}},
		{name: "verify --heal", site: web, prepare: damaged, args: []string{"verify", "--heal", "--max-lost", "1", "DIR/a"}},
		{name: "recover", site: web, prepare: withoutDatabase, args: []string{"recover", "DIR/a"}, codes: []int{2}},
		{name: "index", site: web, prepare: withoutIndex, args: []string{"index", "DIR/a"}},
		{name: "pack", site: web, prepare: archived, args: []string{"pack", "--wacz", "DIR/a.wacz", "DIR/a"}},
		{name: "mirror http, upload to S3", site: web, shared: true, args: sharedArgs()},
		{name: "frontier copy", site: web, shared: true, prepare: archivedWARC, codes: []int{2}, then: sharedArgs(),
			args: []string{"frontier", "copy", "--from", "DIR/a", "--to", "FRONTIER", "--worker", "w", "--store", "STORE"}},
		{name: "export", site: web, prepare: archived, args: []string{"export", "--archive", "DIR/a", "DIR/files"}},
	}
}

// filesFolder creates a folder for downloads.
func filesFolder(t *testing.T, tr *trial) {
	if err := os.Mkdir(filepath.Join(tr.dir, "files"), 0o777); err != nil {
		t.Fatal(err)
	}
}

// archived mirrors the site.
func archived(t *testing.T, tr *trial) { tr.must(t, mirrorArgs("--warc")) }

// archivedWARC mirrors the site without a tree.
func archivedWARC(t *testing.T, tr *trial) { tr.must(t, mirrorArgs("--warc", "--no-tree")) }

// damaged mirrors the site and damages a WARC file and a file of the tree.
func damaged(t *testing.T, tr *trial) {
	archived(t, tr)
	names, _ := filepath.Glob(filepath.Join(tr.dir, "a/warc/*.gz"))
	flip(t, names[len(names)-1], -100)
	flip(t, filepath.Join(tr.dir, "a/crawl.jsonl"), 30)
	found, _ := filepath.Glob(filepath.Join(tr.dir, "a/tree/http/*/pub/one.txt"))
	flip(t, found[0], 3)
}

// flip changes a byte of a file, from its end if the position is negative.
func flip(t *testing.T, path string, at int) {
	t.Helper()
	body, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	body[(len(body)+at)%len(body)] ^= 1
	if err := os.WriteFile(path, body, 0o666); err != nil {
		t.Fatal(err)
	}
}

// withoutDatabase mirrors the site and damages the database.
func withoutDatabase(t *testing.T, tr *trial) {
	archived(t, tr)
	if err := os.WriteFile(filepath.Join(tr.dir, "a/fetch.db"), []byte("damaged"), 0o666); err != nil {
		t.Fatal(err)
	}
}

// withoutIndex mirrors the site and removes the index.
func withoutIndex(t *testing.T, tr *trial) {
	archived(t, tr)
	if err := os.RemoveAll(filepath.Join(tr.dir, "a/index")); err != nil {
		t.Fatal(err)
	}
}

// A trial runs the command of a scenario many times, each time from the same
// files.
type trial struct {
	programs
	scenario
	url    string
	dir    string  // folder of the command
	base   string  // copy of the files before the command
	remote *remote // further data of the command, or nil
	want   []string
}

// newTrial prepares a scenario. It runs the command twice without a failure, to
// learn the expected files.
func newTrial(t *testing.T, s scenario) *trial {
	t.Helper()
	root := folder(t)
	tr := &trial{programs: build(t), scenario: s, dir: filepath.Join(root, "work"), base: filepath.Join(root, "base")}
	tr.url = s.site(t)
	if err := errors.Join(os.Mkdir(tr.dir, 0o777), os.Mkdir(tr.base, 0o777)); err != nil {
		t.Fatal(err)
	}
	if s.shared {
		tr.remote, tr.tracer.Sends = newRemote(t), true
	}
	if s.prepare != nil {
		s.prepare(t, tr)
	}
	copyFiles(t, tr.dir, tr.base)
	for n := range 2 {
		if code, out := tr.again(t); code != 0 && (n == 0 || !slices.Contains(s.codes, code)) {
			t.Fatalf("run %d without a failure: exit code %d: %s", n+1, code, out)
		}
		tr.want = append(tr.want, tr.summary(t))
	}
	return tr
}

// arguments returns arguments with the URL of the server. "URL/.." is the URL of
// its root.
func (tr *trial) arguments(args []string) []string {
	var all []string
	for _, a := range args {
		if rest, ok := strings.CutPrefix(a, "URL/../"); ok {
			a = strings.TrimSuffix(tr.url, "pub/") + rest
		}
		all = append(all, tr.remote.replace(strings.ReplaceAll(a, "URL", tr.url)))
	}
	return all
}

// must runs a command to prepare the trial.
func (tr *trial) must(t *testing.T, args []string) {
	t.Helper()
	if code, out := tr.run(t, tr.dir, tr.arguments(args)); code != 0 {
		t.Fatalf("%q: exit code %d: %s", args, code, out)
	}
}

// next changes the pages of the server to their next version.
func (tr *trial) next(t *testing.T) {
	t.Helper()
	r, err := http.Get(strings.TrimSuffix(tr.url, "pub/") + "next")
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
}

// again runs the command without a failure, and then the second command.
func (tr *trial) again(t *testing.T) (code int, output string) {
	t.Helper()
	code, output = tr.run(t, tr.dir, tr.arguments(tr.args))
	if tr.then == nil || code != 0 && !slices.Contains(tr.codes, code) {
		return code, output
	}
	second, more := tr.run(t, tr.dir, tr.arguments(tr.then))
	if second != 0 {
		code = second
	}
	return code, output + more
}

// reset restores the files before the command, and selects an empty database and
// an empty store.
func (tr *trial) reset(t *testing.T) {
	t.Helper()
	if err := errors.Join(os.RemoveAll(tr.dir), os.Mkdir(tr.dir, 0o777)); err != nil {
		t.Fatal(err)
	}
	copyFiles(t, tr.base, tr.dir)
	if tr.remote != nil {
		tr.remote.run++
	}
}

// trace runs the command from the first files, and kills it before the call with
// the number kill. It returns the calls if record is true.
func (tr *trial) trace(t *testing.T, kill int, record bool) (filecalls.Result, []filecalls.Call) {
	t.Helper()
	tr.reset(t)
	result, calls, err := tr.tracer.Run(tr.command(tr.dir, tr.arguments(tr.args)), []string{tr.dir}, kill, record)
	if err != nil {
		t.Fatal(err)
	}
	return result, calls
}

// check runs the command after a failure and compares the files with those of
// runs without a failure.
func (tr *trial) check(t *testing.T, failure string) bool {
	t.Helper()
	if code, out := tr.again(t); code != 0 && !slices.Contains(tr.codes, code) {
		t.Errorf("%s: the next run ended with exit code %d: %s", failure, code, out)
		return false
	}
	return tr.compare(t, failure)
}

// compare compares the files with those of runs without a failure.
func (tr *trial) compare(t *testing.T, failure string) bool {
	t.Helper()
	got := tr.summary(t)
	if slices.Contains(tr.want, got) {
		return true
	}
	shortest := differ(got, tr.want[0])
	if other := differ(got, tr.want[1]); len(other) < len(shortest) {
		shortest = other
	}
	t.Errorf("%s: after the next run, the files differ:\n%s", failure, shortest)
	return false
}

// copyFiles copies files with their modes and times.
func copyFiles(t *testing.T, from, to string) {
	t.Helper()
	if out, err := exec.Command("cp", "-a", from+"/.", to).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}
