package smb

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/anyurl/fetch/internal/test/schemetest"
)

// TestLibraryLog checks that the library prints nothing if the variable DEBUG is
// set, although the server sends messages that the library skips. The library reads
// the variable at its start, so that a second process runs the request.
func TestLibraryLog(t *testing.T) {
	if os.Getenv("DEBUG") == "smb" {
		c, end := newFake(on(cmdRead, 0, func(r *reply) { r.repeat = 100 })).client(t)
		defer end()
		schemetest.Summary(c.Get(t.Context(), "smb://192.0.2.1/share/f"))
		return
	}
	child := exec.Command(os.Args[0], "-test.run=^TestLibraryLog$")
	child.Env = append(os.Environ(), "DEBUG=smb")
	var printed bytes.Buffer
	child.Stderr = &printed
	if err := child.Run(); err != nil {
		t.Error(err)
	}
	if n := strings.Count(printed.String(), "smb2: "); n > 0 {
		t.Errorf("%d lines: %.300s", n, &printed)
	}
}
