package recordcmd_test

import (
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/anyurl/fetch/cmd/fetch/internal/commandtest"
)

// TestUsage checks the errors before the proxy starts.
func TestUsage(t *testing.T) {
	dir := newDir(t)
	t.Chdir(dir)
	commandtest.Put(t, "old.warc.gz", "")
	commandtest.Put(t, "short", "abc\n")
	os.Chmod("short", 0o600)
	commandtest.Put(t, "open", strings.Repeat("a", 20)+"\n")
	commandtest.Put(t, "key.pem", "not a CA")
	for _, c := range []struct {
		about string
		code  int
		args  []string
		want  string
	}{
		{"no files", 2, nil, "--warc FILE or --output-dir DIR"},
		{"both", 2, []string{"--warc", "a.warc.gz", "--output-dir", "d"}, "either"},
		{"another name", 2, []string{"--warc", "a.txt"}, ".warc"},
		{"an ARC file", 2, []string{"--warc", "a.arc"}, ".warc.zst"},
		{"rotation of a single file", 2, []string{"--warc", "a.warc.gz", "--warc-size", "1M"}, "--output-dir"},
		{"an old file", 2, []string{"--warc", "a.warc.gz", "--warc-time", "1h"}, "--output-dir"},
		{"an index that does not exist", 3, []string{"--warc", "a.warc.gz", "--dedup", "none.cdxj"}, "--dedup"},
		{"a finished file", 3, []string{"--warc", "old.warc.gz"}, "exists"},
		{"another address", 2, []string{"--warc", "a.warc.gz", "--listen", "0.0.0.0:0"}, "--public"},
		{"a host name", 2, []string{"--warc", "a.warc.gz", "--listen", "example.org:0"}, "--public"},
		{"a token that is too short", 2, []string{"--warc", "a.warc.gz", "--token-file", "short"}, "16 to 256"},
		{"a token that others may read", 2, []string{"--warc", "a.warc.gz", "--token-file", "open"}, "0600"},
		{"a CA that others may read", 3, []string{"--warc", "a.warc.gz", "--ca", "open"}, "0600"},
		{"a body", 12, []string{"--warc", "a.warc.gz", "-d", "x"}, "only reads"},
		{"an argument", 2, []string{"--warc", "a.warc.gz", "http://127.0.0.1/"}, "no arguments"},
	} {
		result := commandtest.Exec(t, commandtest.Command(append([]string{"fetch", "record", "--listen", "127.0.0.1:0"}, c.args...)...))
		if result.Code != c.code || !strings.Contains(result.Stderr, c.want) {
			t.Errorf("%s: %v, want %d %q", c.about, result, c.code, c.want)
		}
	}
}

// TestFiles checks the files of the CA and the token.
func TestFiles(t *testing.T) {
	dir := newDir(t)
	r := start(t, dir, "--warc", "a.warc.gz", "--ca", "key.pem")
	r.stop(syscall.SIGTERM)
	for _, name := range []string{"key.pem", "token"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v", name, info, err)
		}
	}
	certificate, first := commandtest.Content(t, filepath.Join(dir, "ca.pem")), r.token
	if strings.Contains(certificate, "PRIVATE KEY") {
		t.Error("--ca-out contains the key")
	}
	block, _ := pem.Decode([]byte(certificate))
	if cert, err := x509.ParseCertificate(block.Bytes); err != nil || !strings.Contains(cert.Subject.String(), "fetch recording proxy CA") {
		t.Errorf("%v %v", cert.Subject, err)
	}
	r = start(t, dir, "--warc", "b.warc.gz", "--ca", "key.pem")
	r.stop(syscall.SIGTERM)
	if r.token != first || commandtest.Content(t, filepath.Join(dir, "ca.pem")) != certificate {
		t.Error("the second run has another CA or token")
	}
}
