package doc_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// foreignMessages are the messages of the page errors.md that come from the
// standard library or that contain values.
var foreignMessages = map[string]string{
	"the command line has options of wget":            "the command line has options of",
	"unknown flag: --frob":                            "unknown flag: ",
	"no such file or directory":                       "",
	"certificate signed by unknown authority":         "",
	"certificate has expired":                         "",
	"first record does not look like a TLS handshake": "",
	"server rejected ECH":                             "",
	"server answered 404":                             "server answered",
	"server answered 403":                             "server answered",
	"more than 10 redirects":                          "more than %d redirects",
	"denied by policy: port":                          "denied by policy",
	"denied by policy: address":                       "denied by policy",
	"denied by policy: redirect":                      "denied by policy",
	"--checksum":                                      "",
	"digest":                                          "",
	"fetch recover":                                   "",
	"is in use by another process":                    "is in use by another process",
}

// TestErrorPage checks that the messages of the page errors.md occur in the
// program.
func TestErrorPage(t *testing.T) {
	page, err := os.ReadFile("errors.md")
	if err != nil {
		t.Fatal(err)
	}
	var source strings.Builder
	for _, dir := range []string{"../cmd", "../fetch", "../schemes", "../wrap", "../save", "../mirror", "../warc", "../verify", "../internal/base", "../internal/wire", "../uri"} {
		err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
				return err
			}
			text, err := os.ReadFile(name)
			source.Write(text)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	text := source.String()
	rows := 0
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(line, "|")
		if len(cells) < 4 || !strings.Contains(cells[1], "`") {
			continue
		}
		rows++
		for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cells[1], -1) {
			words := m[1]
			if pattern, ok := foreignMessages[words]; ok {
				words = pattern
			}
			if !strings.Contains(text, words) {
				t.Errorf("no message has the words %q", words)
			}
		}
	}
	if rows < 40 {
		t.Errorf("%d rows", rows)
	}
}
