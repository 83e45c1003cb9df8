//go:build linux

package main_test

import (
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

// stallingServer returns a server that sends the first megabyte of a body of two
// megabytes and then waits for the client to disconnect.
func stallingServer(t *testing.T) *httptest.Server {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"1"`)
		w.Header().Set("Content-Length", "2097152")
		w.Write(make([]byte, 1<<20))
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}))
	t.Cleanup(s.Close)
	return s
}

// TestStatusLine checks the status line of a download on terminals of several
// widths, and the screen after Control-C.
func TestStatusLine(t *testing.T) {
	fetch := commandtest.Fetch(t)
	for _, c := range []struct {
		name, columns, flags, status, note string
	}{
		{"80 columns", "80", "", `^\S+/disk\.iso  \[=+>-+\] 1\.0 MiB / 2\.0 MiB  \S+ [KM]iB/s  \d:\d\d$`,
			`^fetch: the partial file is removed \(1\.0 MiB\); -C - keeps it and resumes$`},
		{"40 columns", "40", "-C -", `^…\S+isk\.iso  1\.0 MiB  \S+ [KM]iB/s$`,
			`^fetch: 1048576 bytes are saved; run the same command again to resume$`},
		{"200 columns", "200", "", `^http://\S+/disk\.iso +\[=+>-+\] 1\.0 MiB / 2\.0 MiB  \S+ [KM]iB/s  \d:\d\d$`,
			`^fetch: the partial file is removed`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			server := stallingServer(t)
			s := newTmuxSession(t)
			s.run("resize-window", "-x", c.columns, "-y", "24")
			script := "trap : INT\n" + fetch + " -q " + c.flags + " -o disk.iso " + server.URL + "/disk.iso\necho exit=$?\n"
			if err := os.WriteFile(filepath.Join(s.dir, "run.sh"), []byte(script), 0o666); err != nil {
				t.Fatal(err)
			}
			s.typeLine("sh run.sh")
			s.waitForText("1.0 MiB")
			s.press("C-c")
			s.waitForText("exit=130\n")
			lines := strings.Split(s.run("capture-pane", "-p", "-J"), "\n")
			want := []string{`^ready> sh run\.sh$`, c.status, c.note, `^fetch: read http://\S+/disk\.iso: interrupt$`, `^exit=130$`}
			for i, pattern := range want {
				if line := strings.TrimRight(lines[i], " "); !regexp.MustCompile(pattern).MatchString(line) {
					t.Errorf("line %d is %q, want %s", i+1, line, pattern)
				}
			}
		})
	}
}

// TestStatusFlag checks that --status prints lines if standard error is no
// terminal, in the form of text and of JSON, and that nothing is printed without
// the flag.
func TestStatusFlag(t *testing.T) {
	fetch := commandtest.Fetch(t)
	server := stallingServer(t)
	for _, c := range []struct{ name, args, want string }{
		{"text", "-o x $U/disk.iso", `^fetch: http://\S+/disk\.iso  1\.0 MiB / 2\.0 MiB  \S+ [KM]iB/s  0:0\d  eta 0:0\d\n`},
		{"JSON", "--error-json -o x $U/disk.iso", `^{"type":"status","url":"http://\S+/disk\.iso","bytes":1048576,"size":2097152,` +
			`"rate":[0-9.e+]+,"elapsed":[0-9.]+,"eta":[0-9.]+,"active":1,"done":0,"failed":0}\n`},
		{"mirror", "mirror --output-dir m $U/disk.iso", `^fetch: http://\S+/disk\.iso  0 new, \d left, hosts: \d  1\.0 MiB  \S+ [KM]iB/s  0:0\d\n`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			// The command ends when it has printed a status line, because the
			// shell then closes the pipe.
			shell := exec.Command("/bin/sh", "-c", `{ "$F" -q --status 1s `+c.args+` & echo $! >pid; wait; } 2>&1 | { head -n 1; kill -INT $(cat pid); }`)
			shell.Dir = commandtest.Folder(t)
			shell.Env = append(shell.Environ(), "F="+fetch, "U="+server.URL)
			out, err := shell.Output()
			if err != nil || !regexp.MustCompile(c.want).Match(out) {
				t.Errorf("got %v and %q, want %s", err, out, c.want)
			}
		})
	}
}
