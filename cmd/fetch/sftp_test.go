package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anyurl/fetch/cmd/fetch/internal/commandtest"
	"github.com/anyurl/fetch/internal/test/peer"
)

// TestSFTP retrieves, lists, resumes and mirrors files of an SSH server.
func TestSFTP(t *testing.T) {
	s := peer.SSHD(t, peer.SSHDOptions{})
	content := commandtest.RandomBytes(3_000_000)
	s.Put("big", content)
	s.Put("notes.txt", []byte("eins\n"))
	s.Put("sub/deep.txt", []byte("zwei\n"))
	if err := os.Symlink("notes.txt", filepath.Join(s.Root, "link")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", t.TempDir())
	t.Setenv("SSH_AUTH_SOCK", "")
	known := []string{"--knownhosts", s.KnownHosts, "--key", s.UserKey}
	run := func(code int, args ...string) string { return runFetch(t, code, append(known, args...)...) }
	root := "sftp://" + peer.User + "@" + s.Addr + s.Root
	contains(t, run(0, root+"/notes.txt"), "eins\n")
	contains(t, run(0, "-r", "1-2", root+"/notes.txt"), "in")
	contains(t, run(0, "scp"+root[len("sftp"):]+"/notes.txt"), "eins\n")
	contains(t, runFetch(t, 0, append([]string{"ls", "--urls"}, append(known, root+"/")...)...), root+"/sub/\n", root+"/notes.txt\n", root+"/link\n")
	contains(t, runFetch(t, 0, append([]string{"info"}, append(known, root+"/notes.txt")...)...), `"size":5`, `"proto":"SFTP"`)
	contains(t, runFetch(t, 0, "plan", "sftp://h/~/a"), "STAT a\nOPEN a\nREAD\n")
	contains(t, commandtest.MirrorOne(t, root+"/", known...), "zwei\n", "WARC-Target-URI: sftp://"+s.Addr+s.Root+"/sub/deep.txt", "sent: OPEN "+s.Root+"/notes.txt")

	out := filepath.Join(t.TempDir(), "big")
	run(0, "-o", out, root+"/big")
	if got, err := os.ReadFile(out); err != nil || string(got) != string(content) {
		t.Errorf("got %d bytes, %v", len(got), err)
	}
	typed := "sftp://" + peer.User + ":" + peer.Password + "@" + s.Addr + s.Root + "/sub" // redirects to sub/
	if _, notes := runFetchStderr(t, 0, "--knownhosts", s.KnownHosts, typed); strings.Contains(notes, "user information") {
		t.Errorf("unexpected note in %q", notes)
	}
	keyed := "sftp://" + s.Addr + s.Root + "/notes.txt"
	contains(t, run(0, "-u", peer.User, keyed), "eins\n") // the key suffices, so no password is requested
	contains(t, commandtest.MirrorOne(t, keyed, append(known, "-u", peer.User)...), "eins\n")
	if _, stderr := runFetchStderr(t, 6, "--knownhosts", s.KnownHosts, "-u", peer.User, keyed); !strings.Contains(stderr, "no password for "+peer.User) {
		t.Errorf("without a key and a terminal: %q", stderr)
	}
	run(8, root+"/nosuch")
	runFetch(t, 5, root+"/notes.txt")
	runFetch(t, 5, append(known, "--hostpubsha256", "SHA256:AAAA", root+"/notes.txt")...)
	contains(t, runFetch(t, 0, "--hostpubsha256", s.HostKey, "--key", s.UserKey, root+"/notes.txt"), "eins\n")
	contains(t, runFetch(t, 0, "--knownhosts", s.KnownHosts, "-u", peer.User+":"+peer.Password, root+"/notes.txt"), "eins\n")
	runFetch(t, 6, "--knownhosts", s.KnownHosts, "-u", peer.User+":wrong", root+"/notes.txt")
	other := filepath.Join(t.TempDir(), "known_hosts")
	line := "[127.0.0.1]:" + s.Addr[len("127.0.0.1:"):] + " ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKGWyrCe9p0LdzSBlbGi0gHKwcWEBjNx8Q9MkFf2xzXn\n"
	if err := os.WriteFile(other, []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
	runFetch(t, 5, "--knownhosts", other, "--key", s.UserKey, root+"/notes.txt")
}
