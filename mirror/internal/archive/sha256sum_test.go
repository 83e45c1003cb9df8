package archive

import (
	"bytes"
	"crypto/sha256"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anyurl/fetch/internal/test/peer"
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
	for _, name := range list {
		sum := sha256.Sum256([]byte(name))
		line := appendDigest(nil, sum, name)
		b.Write(line)
		got, escaped, ok := parseDigest(strings.TrimSuffix(string(line), "\n"))
		if !ok || got != sum || nameUnescapes.Replace(escaped) != name {
			t.Errorf("%q: parsed as %x %q %t", line, got, escaped, ok)
		}
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
