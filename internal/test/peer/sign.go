package peer

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// A GnuPG is a home directory of gpg with secret keys that have no passphrase.
type GnuPG struct {
	t       TB
	program string
	home    string
}

// NewGnuPG returns an empty home directory of gpg (Debian gpg and gpg-agent). Its
// agent ends with the test.
func NewGnuPG(t TB) *GnuPG {
	t.Helper()
	program, control := Need(t, "gpg", "gpg"), Need(t, "gpgconf", "gpgconf")
	Need(t, "gpg-agent", "gpg-agent")
	home, err := os.MkdirTemp("/tmp", "gpg") // the path of the agent's socket must be short
	if err != nil {
		t.Fatalf("peer: %v", err)
	}
	t.Cleanup(func() {
		exec.Command(control, "--homedir", home, "--kill", "all").Run()
		os.RemoveAll(home)
	})
	return &GnuPG{t, program, home}
}

// Run runs gpg with args and returns its standard output.
func (g *GnuPG) Run(args ...string) []byte {
	g.t.Helper()
	args = append([]string{"--homedir", g.home, "--batch", "--yes", "--quiet", "--no-tty", "--passphrase", "", "--pinentry-mode", "loopback",
		"--trust-model", "always"}, args...)
	return output(g.t, exec.Command(g.program, args...))
}

// Revoke revokes the key of a user with the certificate that gpg has written
// when it created the key. There must be only one key.
func (g *GnuPG) Revoke() {
	g.t.Helper()
	names, _ := filepath.Glob(filepath.Join(g.home, "openpgp-revocs.d", "*.rev"))
	if len(names) != 1 {
		g.t.Fatalf("%d certificates in %s", len(names), g.home)
	}
	text, err := os.ReadFile(names[0])
	if err != nil {
		g.t.Fatalf("peer: %v", err)
	}
	name := filepath.Join(g.home, "revocation")
	if err := os.WriteFile(name, bytes.ReplaceAll(text, []byte(":-----BEGIN"), []byte("-----BEGIN")), 0o600); err != nil {
		g.t.Fatalf("peer: %v", err)
	}
	g.Run("--import", name)
}

// Minisign creates a key with minisign and signs the file at path. It returns
// the names of the files with the public key and with the signature. If legacy
// is true, the signature covers the file instead of its digest.
func Minisign(t TB, path string, legacy bool) (key, signature string) {
	t.Helper()
	program := Need(t, "minisign", "minisign")
	dir := signDir(t)
	key, secret, signature := filepath.Join(dir, "key.pub"), filepath.Join(dir, "key.sec"), filepath.Join(dir, "file.minisig")
	output(t, exec.Command(program, "-G", "-W", "-p", key, "-s", secret))
	args := []string{"-S", "-s", secret, "-m", path, "-x", signature, "-t", "a comment"}
	if help, _ := exec.Command(program).CombinedOutput(); !legacy && regexp.MustCompile(`-H\b`).Match(help) {
		args = append(args, "-H")
	} else if legacy && strings.Contains(string(help), "-l ") {
		args = append(args, "-l")
	}
	output(t, exec.Command(program, args...))
	return key, signature
}

// Signify creates a key with signify (Debian signify-openbsd) and signs the file
// at path. It returns the names of the files with the public key and with the
// signature. If embed is true, the signature is followed by the file.
func Signify(t TB, path string, embed bool) (key, signature string) {
	t.Helper()
	program := Need(t, "signify-openbsd", "signify-openbsd")
	dir := signDir(t)
	key, secret, signature := filepath.Join(dir, "key.pub"), filepath.Join(dir, "key.sec"), filepath.Join(dir, "file.sig")
	output(t, exec.Command(program, "-G", "-n", "-p", key, "-s", secret))
	args := []string{"-S", "-s", secret, "-m", path, "-x", signature}
	if embed {
		args = append(args, "-e")
	}
	output(t, exec.Command(program, args...))
	return key, signature
}

// signDir returns a directory for keys that is removed at the end of the test.
func signDir(t TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "sign-")
	if err != nil {
		t.Fatalf("peer: %v", err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// output runs a command that must succeed, and returns its standard output.
func output(t TB, cmd *exec.Cmd) []byte {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v: %s%s", cmd, err, &stdout, &stderr)
	}
	return stdout.Bytes()
}
