package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/anyurl/fetch/cmd/fetch/internal/app"
)

// TestHints runs command lines that readers of the documentation typed, and checks
// that the error names the command line that works.
func TestHints(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.Write([]byte("x")) }))
	defer s.Close()
	if err := os.Mkdir("archive", 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("html", []byte("a file\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	const search = "fetch search --text archive WORDS\n"
	for _, c := range []struct {
		oddity, args string
		exit         int
		want         string // in the messages
	}{
		{"digest as a flag", "--sha256 00 U", 2, "unknown flag: --sha256; use --checksum sha256=HEX\n"},
		{"digest with a hyphen", "--sha-512=00 U", 2, "; use --checksum sha512=HEX\n"},
		{"name of a program", "--md5sum 00 U", 2, "; use --checksum md5=HEX\n"},
		{"digest of a command that verifies nothing", "ls --sha256 00 U", 2, "see fetch ls --help\n"},
		{"value of --render as a word", "--render text U", 2, `"text" is no URL; to set the value of the flag: --render=text` + "\n"},
		{"the word is a file", "--render html -I", 2, "--render writes no bytes"},
		{"value without the flag", "text U", 2, "neither a URL nor a file"},
		{"value of --scripts as a word", "serve --scripts browser", 2, "--scripts=browser\n"},
		{"search with --archive", "search --archive archive word", 2, search},
		{"search with --archive and two words", "search --archive archive two words", 2, search},
		{"search in a folder", "search archive word", 2, search},
		{"search in a folder without words", "search archive", 2, search},
		{"archive after the words", "search --text word archive", 2, search},
		{"archive in a flag", "search --text --archive archive word", 2, search},
		{"no words", "search --text archive", 2, "requires an archive and words\n"},
		{"search without an archive", "search", 2, "requires a URL and words\n"},
		{"missing folder", "--output-dir none U/a", 3, "no such file or directory; add --create-dirs\n"},
		{"missing folder of -o", "-o none/a U/a", 3, "; add --create-dirs\n"},
		{"missing folder of -J", "-OJ --output-dir none U/a", 3, "; add --create-dirs\n"},
		{"missing folder and file name", "-O --output-dir none U/a U/b", 3, "; add --create-dirs\n"},
		{"file in place of a folder", "--output-dir html U/a", 3, "not a directory\n"},
		{"upload", "-T file U", 12, "--upload-file: fetch only reads\n"},
		{"upload with -s", "-s -T file U", 12, "--upload-file: fetch only reads\n"},
		{"upload with -s behind it", "-X POST -s U", 12, ""},
		{"unsupported feature with -s", "-s --ntlm U", 12, "NTLM authentication is not supported\n"},
		{"unsupported value with -s", "-s --ech grease U", 12, "--ech grease"},
		{"no listing with -s", "-s ls U/a", 12, "-"},
	} {
		args := strings.Fields(strings.ReplaceAll(c.args, "U", s.URL))
		var stdout, stderr bytes.Buffer
		code := app.Run(args, strings.NewReader(""), &stdout, &stderr)
		silent := c.want == "-"
		if code != c.exit || silent && stderr.Len() > 0 || !silent && !strings.Contains(stderr.String(), c.want) {
			t.Errorf("%s: fetch %s: exit code %d, messages\n%s\nwant %q", c.oddity, c.args, code, &stderr, c.want)
		}
	}
}
