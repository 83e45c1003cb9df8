package archive

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/anyurl/fetch/internal/peer"
)

// TestSHA256Sum compares the lines with the output of sha256sum, and has
// sha256sum verify them, for unusual file names.
func TestSHA256Sum(t *testing.T) {
	sha256sum := peer.Need(t, "sha256sum", "coreutils")
	dir := t.TempDir()
	list := []string{"a", "a b", "*c", `back\slash`, "line\nend", "carriage\rreturn", `\n`, "\u00e9", " space "}
	for _, name := range list {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	var b bytes.Buffer
	if err := writeDigests(&b, os.DirFS(dir), slices.Values(list)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(sha256sum, append([]string{"--"}, list...)...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil || string(out) != b.String() {
		t.Errorf("%v: sha256sum printed\n%swant\n%s", err, out, b.String())
	}
	cmd = exec.Command(sha256sum, "--check", "--strict", "-")
	cmd.Dir, cmd.Stdin = dir, bytes.NewReader(b.Bytes())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
