package recordcmd_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/anyurl/fetch/cmd/fetch/internal/commandtest"
	"github.com/anyurl/fetch/internal/test/peer"
)

// TestFullDisk records responses on a disk that becomes full. The client must not
// regard them as complete, the recorder ends with exit code 3, and the file does
// not get its final name.
func TestFullDisk(t *testing.T) {
	peer.NeedRoot(t, "a file system of its own")
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		size, _ := strconv.Atoi(r.URL.Path[1:])
		w.Header().Set("Content-Length", strconv.Itoa(size))
		io.CopyN(w, zeros{}, int64(size))
	}))
	defer s.Close()
	for _, c := range []struct {
		name string
		file string // WARC file
		size int
	}{
		{"the record does not fit", "a.warc", 1_500_000},
		{"the body does not fit before it is compressed", "a.warc.gz", 50_000_000},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := newDir(t)
			small := filepath.Join(dir, "small")
			if err := os.Mkdir(small, 0o700); err != nil {
				t.Fatal(err)
			}
			program, err := os.Executable()
			if err == nil {
				err = os.Symlink(program, filepath.Join(dir, "fetch")) // the test binary is fetch under this name
			}
			if err != nil {
				t.Fatal(err)
			}
			shell := exec.Command("unshare", "-m", "sh", "-c", `mount -t tmpfs -o size=2m none small
				fetch "$@"; code=$?; ls -A small >names; exit $code`, "sh")
			shell.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"))
			r := startCommand(t, dir, shell, "--warc", "small/"+c.file)
			resp, err := r.client(r.token).Get(s.URL + "/" + strconv.Itoa(c.size))
			if err != nil {
				t.Fatal(err)
			}
			n, err := io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
			if err == nil {
				t.Errorf("the client got %d bytes and no error", n)
			}
			if code := r.wait(); code != 3 || !strings.Contains(r.messages.String(), "no space left on device") {
				t.Errorf("exit code %d, want 3: %s", code, &r.messages)
			}
			if names := commandtest.Content(t, filepath.Join(dir, "names")); strings.Contains(names, c.file+"\n") {
				t.Errorf("files %q", names)
			}
		})
	}
}
