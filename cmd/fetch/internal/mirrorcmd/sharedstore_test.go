//go:build linux

package mirrorcmd_test

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/anyurl/fetch/cmd/fetch/internal/commandtest"
	"github.com/anyurl/fetch/internal/test/peer"
)

// one removes all workers except the first from a crawl and returns it.
func (c *sharedCrawl) one() *sharedWorker {
	c.workers = c.workers[:1]
	return c.workers[0]
}

// glob returns the base names of the files that match a pattern.
func glob(pattern ...string) (names []string) {
	found, _ := filepath.Glob(filepath.Join(pattern...))
	for _, name := range found {
		names = append(names, filepath.Base(name))
	}
	return names
}

// withArgs returns the command of a worker with more arguments.
func (w *sharedWorker) withArgs(more ...string) *exec.Cmd {
	cmd := w.command()
	cmd.Args = append(cmd.Args, more...)
	return cmd
}

// TestLostFolder interrupts a worker before its files are uploaded and removes
// some of its files. The worker must refuse to run until it is abandoned.
func TestLostFolder(t *testing.T) {
	t.Parallel()
	c := newSharedCrawl(t, 2, 40)
	w := c.one()
	c.size = "2k" // each commit finishes a file
	blocked := filepath.Join(c.stored, ".fetch-uploads")
	interrupted := false
	c.onRequest(func(served int) {
		switch {
		case served == 1: // uploads fail from now on
			os.RemoveAll(blocked)
			os.WriteFile(blocked, nil, 0o666)
		case !interrupted && served >= 40 && len(glob(w.dir, "warc", "*.warc.gz")) > 0:
			interrupted = true
			w.signal(syscall.SIGINT)
		}
	})
	out, err := w.work()
	if err == nil || !strings.Contains(fmt.Sprint(err), "130") {
		t.Fatalf("the interrupted worker: %v: %s", err, out)
	}
	c.onRequest(nil)
	files := glob(w.dir, "warc", "*.warc.gz")
	if len(files) == 0 || len(glob(c.stored, "*.warc.gz")) != 0 {
		t.Fatalf("files %q in the directory and %q in the store; want files that wait: %s", glob(w.dir, "warc", "*"), glob(c.stored, "*"), out)
	}
	os.Remove(blocked)
	hidden := filepath.Join(t.TempDir(), files[0])
	if err := os.Rename(filepath.Join(w.dir, "warc", files[0]), hidden); err != nil {
		t.Fatal(err)
	}
	if e := commandtest.Exec(t, w.command()); e.Code != 3 || !strings.Contains(e.Stderr, "fetch frontier abandon") || !strings.Contains(e.Stderr, files[0]) {
		t.Errorf("a folder without %s: %v", files[0], e)
	}
	os.RemoveAll(w.dir)
	if e := commandtest.Exec(t, w.command()); e.Code != 3 || !strings.Contains(e.Stderr, "fetch frontier abandon") {
		t.Errorf("a new folder with the same name: %v", e)
	}
	os.RemoveAll(w.dir)
	abandon := []string{"frontier", "abandon", "--force-after", "0", "--store", c.store, w.name}
	dry := commandtest.Exec(t, c.command(append(abandon, "--dry-run")...))
	e := commandtest.Exec(t, c.command(abandon...))
	if e.Code != 0 || dry.Stdout != e.Stdout || !strings.Contains(e.Stdout, `"stored": 0`) || strings.Contains(e.Stdout, `"urls": 0`) {
		t.Errorf("abandon: %v, %s, with --dry-run %s", e, e.Stdout, dry.Stdout)
	}
	if out, err := w.work(); err != nil {
		t.Errorf("the new worker: %v: %s", err, out)
	}
	c.check(t)
}

// TestStoreConflict creates an object with the name of a file before the file is
// uploaded.
func TestStoreConflict(t *testing.T) {
	t.Parallel()
	c := newSharedCrawl(t, 1, 60)
	w := c.one()
	name := ""
	c.onRequest(func(int) {
		if files := glob(w.dir, "warc", "*.open"); name == "" && len(files) > 0 {
			name = strings.TrimSuffix(files[0], ".open")
			os.WriteFile(filepath.Join(c.stored, name), []byte("other"), 0o666)
		}
	})
	for range 2 { // the next start finds the object again
		e := commandtest.Exec(t, w.command())
		if e.Code != 11 || !strings.Contains(e.Stderr, name) {
			t.Fatalf("an object %q with other bytes: %v", name, e)
		}
		if got, err := os.ReadFile(filepath.Join(c.stored, name)); string(got) != "other" || err != nil {
			t.Errorf("the object has the bytes %q, %v", got, err)
		}
		if _, err := os.Stat(filepath.Join(w.dir, "warc", name)); err != nil {
			t.Error(err)
		}
	}
}

// TestSpool makes the store unavailable. The worker must pause, show its spool
// and continue when the store is available again.
func TestSpool(t *testing.T) {
	t.Parallel()
	c := newSharedCrawl(t, 2, 200)
	w := c.one()
	blocked := filepath.Join(c.stored, ".fetch-uploads")
	c.onRequest(func(served int) {
		if served == 1 {
			os.RemoveAll(blocked)
			os.WriteFile(blocked, nil, 0o666)
		}
	})
	cmd := w.withArgs("--warc-size", "10k", "--max-spool", "20k", "--silent=false")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	paused := false
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		fmt.Fprintln(&out, lines.Text())
		if paused || !strings.Contains(lines.Text(), "paused: ") {
			continue
		}
		paused = true
		if e := commandtest.Exec(t, c.command("frontier", "status")); !strings.Contains(e.Stdout, `"spool": {`) {
			t.Errorf("status: %v: %s", e, e.Stdout)
		}
		if e := commandtest.Exec(t, c.verifyCommand()); e.Code != 10 || !strings.Contains(e.Stdout, "note: the file waits for its upload") {
			t.Errorf("verify: %v: %s", e, e.Stdout)
		}
		os.Remove(blocked)
	}
	if err := cmd.Wait(); err != nil || !paused || !strings.Contains(out.String(), "resumed: ") {
		t.Errorf("%v, paused %t: %s", err, paused, &out)
	}
	if left := glob(w.dir, "warc", "*"); len(left) > 0 {
		t.Errorf("the directory has the files %q", left)
	}
	c.check(t)
}

// TestVerifyStore changes objects of a complete crawl.
func TestVerifyStore(t *testing.T) {
	t.Parallel()
	c := newSharedCrawl(t, 2, 60)
	w := c.one()
	if e := commandtest.Exec(t, w.withArgs("--keep-local", "--warc-size", "10k")); e.Code != 0 {
		t.Fatal(e)
	}
	c.check(t)
	files := glob(c.stored, "*.warc.gz")
	if local := glob(w.dir, "warc", "*"); len(files) < 2 || len(local) != len(files) {
		t.Errorf("local files %q, objects %q", local, files)
	}
	object := filepath.Join(c.stored, files[0])
	whole, err := os.ReadFile(object)
	if err != nil {
		t.Fatal(err)
	}
	changed := append([]byte{}, whole...)
	changed[len(changed)/2] ^= 1
	if e := commandtest.Exec(t, w.command()); e.Code != 0 || len(glob(w.dir, "warc", "*")) != 0 { // without --keep-local
		t.Errorf("a complete crawl: %v, local files %q", e, glob(w.dir, "warc", "*"))
	}
	for _, test := range []struct {
		name    string
		change  func() error
		code    int
		finding string
	}{
		{"a changed byte", func() error { return os.WriteFile(object, changed, 0o666) }, 11, files[0] + ": the content does not match the digest in the database"},
		{"a short object", func() error { return os.WriteFile(object, whole[:len(whole)-1], 0o666) }, 11, "bytes, but the database has"},
		{"a missing object", func() error { return os.Remove(object) }, 11, files[0] + ": the store lacks the file"},
		{"an unknown object", func() error {
			return os.WriteFile(filepath.Join(c.stored, "unknown.warc.gz"), nil, 0o666)
		}, 0, "unknown.warc.gz: note: the database does not record the object"},
	} {
		if err := os.WriteFile(object, whole, 0o666); err != nil {
			t.Fatal(err)
		}
		if err := test.change(); err != nil {
			t.Fatal(err)
		}
		if e := commandtest.Exec(t, c.verifyCommand()); e.Code != test.code || !strings.Contains(e.Stdout, test.finding) {
			t.Errorf("%s: %v: %s", test.name, e, e.Stdout)
		}
	}
}

// TestSharedDuplicate retrieves an object that another worker has stored.
func TestSharedDuplicate(t *testing.T) {
	t.Parallel()
	body := []byte(strings.Repeat("The same text. ", 200))
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		w.Write(body)
	}))
	defer site.Close()
	c := &sharedCrawl{fetch: commandtest.Fetch(t), db: peer.Postgres(t, false), stored: t.TempDir()} // without pages
	c.store = "file://" + c.stored
	c.dsn = fmt.Sprintf("postgres://postgres@%s/postgres?search_path=crawl", c.db.Addr)
	for _, args := range [][]string{{"--worker", "one", site.URL + "/1"}, {"--worker", "two", "--again", site.URL + "/2", site.URL + "/3"}} {
		args = append([]string{"mirror", "--ignore-robots", "--store", "file://" + c.stored, "--output-dir", filepath.Join(t.TempDir(), "x")}, args...)
		if e := commandtest.Exec(t, c.command(args...)); e.Code != 0 {
			t.Fatal(e)
		}
	}
	if e := commandtest.Exec(t, c.verifyCommand()); e.Code != 0 || e.Stdout != "" {
		t.Errorf("verify: %v: %s", e, e.Stdout)
	}
	files, _ := filepath.Glob(filepath.Join(c.stored, "*.warc.gz"))
	e := commandtest.Exec(t, c.command(append([]string{"index"}, files...)...))
	var revisits []string
	for _, line := range strings.Split(e.Stdout, "\n") {
		for n := range 4 {
			if strings.Contains(line, fmt.Sprintf("%s/%d", site.URL, n)) && strings.Contains(line, "revisit") {
				revisits = append(revisits, fmt.Sprint(n))
			}
		}
	}
	if got := strings.Join(revisits, " "); !strings.HasSuffix(got, "2 3") {
		t.Errorf("revisit records for the pages %s; want 2 and 3\n%s", got, e.Stdout)
	}
}

// TestStoreErrors checks that errors of the store are reported before any URL is
// visited.
func TestStoreErrors(t *testing.T) {
	t.Parallel()
	c := newSharedCrawl(t, 1, 3)
	w := c.one()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, store string
		code        int
		message     string
	}{
		{"missing directory", "file:///missing/store", 3, "does not exist"},
		{"file", "file://" + file, 3, "not a directory"},
		{"unknown scheme", "gopher://store/", 2, "file:///"},
		{"no scheme", "store", 2, "file:///"},
	} {
		if e := commandtest.Exec(t, w.withArgs("--store", test.store)); e.Code != test.code || !strings.Contains(e.Stderr, test.message) {
			t.Errorf("%s: %v; want exit code %d and %q", test.name, e, test.code, test.message)
		}
	}
	alone := exec.Command(c.fetch, "mirror", "--store", "file:///tmp", c.url(0, 0), "--no-config")
	if e := commandtest.Exec(t, alone); e.Code != 2 || !strings.Contains(e.Stderr, "--store requires --frontier") {
		t.Errorf("without --frontier: %v", e)
	}
	if n := c.record().served; n > 0 {
		t.Errorf("%d requests; want none", n)
	}
	if out, err := w.work(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if e := commandtest.Exec(t, w.withArgs("--again", "--store", "file://"+t.TempDir())); e.Code != 2 || !strings.Contains(e.Stderr, "--store") {
		t.Errorf("another store: %v", e)
	}
	for name, cmd := range map[string]*exec.Cmd{
		"abandon with another store":           c.command("frontier", "abandon", "--force-after", "0", "--store", "file:///tmp", w.name),
		"abandon with a store of the database": c.command("frontier", "abandon", "--force-after", "0", w.name),
		"verify with a store of the database":  c.command("verify", "--frontier", c.dsn),
		"worker with a store of the database":  c.command("mirror", "--output-dir", filepath.Join(t.TempDir(), "x"), "--worker", "x"),
	} {
		if e := commandtest.Exec(t, cmd); e.Code != 2 || !strings.Contains(e.Stderr, c.store) {
			t.Errorf("%s: %v", name, e)
		}
	}
}

// TestS3Errors checks that errors of a bucket are reported before any URL is
// visited.
func TestS3Errors(t *testing.T) {
	t.Parallel()
	c := newSharedCrawl(t, 1, 3)
	w := c.one()
	s := c.useS3(t)
	for _, test := range []struct {
		name, bucket, key, secret string
		code                      int
		message                   string
	}{
		{"missing bucket", "missing", peer.User, peer.Password, 3, "s3://missing"},
		{"wrong secret key", "warcs", peer.User, "wrong", 6, "s3://warcs"},
		{"unknown access key", "warcs", "unknown", peer.Password, 6, "s3://warcs"},
		{"no permission to write", "warcs", peer.Reader, peer.Password, 3, "s3://warcs"},
		{"no credentials", "warcs", "", "", 6, "credentials"},
		{"wrong region", "warcs?region=eu-north-1", peer.User, peer.Password, 2, "region"},
	} {
		c.env = []string{"AWS_ACCESS_KEY_ID=" + test.key, "AWS_SECRET_ACCESS_KEY=" + test.secret, "HOME=" + t.TempDir()}
		bucket, query, ok := strings.Cut(test.bucket, "?")
		if !ok {
			query = "region=us-east-1"
		}
		url := "s3://" + bucket + "/crawl?" + query + "&endpoint=http://" + s.Addr
		e := commandtest.Exec(t, w.withArgs("--store", url))
		if e.Code != test.code || !strings.Contains(e.Stderr, test.message) {
			t.Errorf("%s: %v; want exit code %d and %q", test.name, e, test.code, test.message)
		}
		if test.secret != "" && strings.Contains(e.Stderr, test.secret) {
			t.Errorf("%s: the message contains the secret key: %s", test.name, e.Stderr)
		}
	}
	if n := c.record().served; n > 0 {
		t.Errorf("%d requests; want none", n)
	}
}

// noise returns an HTML comment with n random bytes.
func noise(n int) string {
	b := make([]byte, n)
	rand.NewChaCha8([32]byte{}).Read(b)
	return fmt.Sprintf("<!-- %x -->", b)
}

// TestFullDiskOfWorker runs a crawl that is larger than the disk of its worker.
// The store is unavailable until the disk is full. The worker must then continue,
// although the disk is too small for the usual reserve.
func TestFullDiskOfWorker(t *testing.T) {
	t.Parallel()
	c := newSharedCrawl(t, 4, 25)
	w := c.one()
	c.set(func() { c.padding = noise(40_000) })
	blocked := filepath.Join(c.stored, ".fetch-uploads")
	c.onRequest(func(served int) {
		if served == 1 {
			os.RemoveAll(blocked)
			os.WriteFile(blocked, nil, 0o666)
		}
	})
	args := strings.Join(w.withArgs("--silent=false", "--warc-size", "300k", "--min-free", "500k").Args[1:], " ")
	e := commandtest.RunInMount(t, c.fetch, "2m", "{ FETCH_FRONTIER='"+c.dsn+`' "$1" `+args+` --output-dir "$2/archive"; echo "exit $?"; } 2>&1 |
while read -r line; do
	echo "$line"
	case $line in *"paused: the disk"*) rm -f `+blocked+`;; esac
done`)
	for _, text := range []string{"paused: the disk", "resumed: ", "exit 0"} {
		if !strings.Contains(e.Stdout, text) {
			t.Errorf("no %q: %v: %s", text, e, e.Stdout)
		}
	}
	c.check(t)
}
