package download_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/anyurl/fetch/cmd/fetch/internal/commandtest"
	"github.com/anyurl/fetch/internal/test/peer"
)

// TestRangeOutputs combines every form of -r with every kind of output, for the
// schemes that support ranges.
func TestRangeOutputs(t *testing.T) {
	content := commandtest.RandomBytes(1_200_000) // two segments of --segments 16
	for name, root := range rangeServers(t, content) {
		t.Run(name, func(t *testing.T) {
			for _, form := range []struct {
				text string
				want []byte // the body, or nil if the range selects nothing
				exit int
			}{
				{"100-", content[100:], 0},
				{"100-199", content[100:200], 0},
				{"1199990-9999999", content[1_199_990:], 0},
				{"-10", content[1_199_990:], 0},
				{"-9999999", content, 0},
				{"0-", content, 0},
				{"0-0", content[:1], 0},
				{"100", content[100:], 0},
				{"1200000-", nil, 0},
				{"4000000-", nil, 8},
				{"9-5", nil, 2},
				{"x-5", nil, 2},
			} {
				t.Run(form.text, func(t *testing.T) { rangeOutputs(t, root, form.text, form.want, form.exit) })
			}
			t.Run("0-9,100-109", func(t *testing.T) { severalRanges(t, root, name == "http", content) })
		})
	}
}

// rangeServers returns the arguments of fetch that precede a URL, and the URL
// of the folder in which the file big has the given content.
func rangeServers(t *testing.T, content []byte) map[string][]string {
	web, ftp, ssh := peer.Nginx(t, peer.NginxOptions{}), peer.Vsftpd(t, peer.FTPOptions{}), peer.SSHD(t, peer.SSHDOptions{})
	web.Put("big", content)
	ftp.Put("big", content)
	ssh.Put("big", content)
	return map[string][]string{
		"http": {"http://" + web.Addr + "/big"},
		"ftp":  {"ftp://" + ftp.Addr + "/big"},
		"sftp": {"--knownhosts", ssh.KnownHosts, "--key", ssh.UserKey, "sftp://" + peer.User + "@" + ssh.Addr + ssh.Root + "/big"},
		"file": {(&url.URL{Scheme: "file", Path: web.Root + "/big"}).String()},
	}
}

// rangeOutputs retrieves a range with every kind of output. The range is the
// bytes of want.
func rangeOutputs(t *testing.T, target []string, text string, want []byte, exit int) {
	digest := fmt.Sprintf("sha256=%x", sha256.Sum256(want))
	for _, c := range []struct {
		args  []string
		files []string // names of the files with the range; none is standard output
	}{
		{nil, nil},
		{[]string{"-o", "out"}, []string{"out"}},
		{[]string{"-O"}, []string{"big"}},
		{[]string{"-O", "-J"}, []string{"big"}},
		{[]string{"-Z", "-o", "one", "-o", "two", target[len(target)-1]}, []string{"one", "two"}},
		{[]string{"--segments", "16", "-o", "out"}, []string{"out"}},
		{[]string{"--segments", "16"}, nil},
		{[]string{"--checksum", digest, "-o", "out"}, []string{"out"}},
		{[]string{"--compressed", "-o", "out"}, []string{"out"}},
		{[]string{"--strict", "-o", "out"}, []string{"out"}},
		{[]string{"--meta", "meta", "-R", "-o", "out"}, []string{"out"}},
	} {
		t.Chdir(t.TempDir())
		got := commandtest.Run(t, exit, append(append([]string{"-r", text}, c.args...), target...)...)
		if c.files == nil && !bytes.Equal([]byte(got), want) {
			t.Errorf("%q: %d bytes on standard output, want %d", c.args, len(got), len(want))
		}
		for _, name := range c.files {
			got, err := os.ReadFile(name)
			if (err == nil) != (exit == 0) || !bytes.Equal(got, want) {
				t.Errorf("%q: %s has %d bytes, %v, want %d", c.args, name, len(got), err, len(want))
			}
		}
		if left, _ := filepath.Glob(".*"); len(left) > 0 {
			t.Errorf("%q left %q", c.args, left)
		}
	}
	if exit == 2 {
		return
	}
	if _, notes := commandtest.RunStderr(t, 2, append([]string{"-r", text, "-C", "-", "-o", "out"}, target...)...); notes == "" {
		t.Error("-r and -C are accepted together")
	}
}

// severalRanges retrieves two ranges at once, which only http supports.
func severalRanges(t *testing.T, target []string, web bool, content []byte) {
	exit := 2
	if web {
		exit = 0
	}
	t.Chdir(t.TempDir())
	for _, args := range [][]string{{}, {"-o", "out"}, {"-O"}, {"-O", "-J"}, {"--segments", "16"}, {"--compressed"}} {
		got := []byte(commandtest.Run(t, exit, append(append([]string{"-r", "0-9, 100-109"}, args...), target...)...))
		for _, name := range []string{"out", "big"} {
			if text, err := os.ReadFile(name); err == nil {
				got = text
				os.Remove(name)
			}
		}
		if found := bytes.Contains(got, content[:10]) && bytes.Contains(got, content[100:110]); found != web || len(got) > 1000 {
			t.Errorf("%q: %d bytes", args, len(got))
		}
	}
}
