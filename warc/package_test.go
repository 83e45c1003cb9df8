package warc

import (
	"archive/zip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
)

// writePackage writes a WACZ file with the given datapackage.json and a number
// of empty parts.
func writePackage(t *testing.T, description string, parts int) string {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "a.wacz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z := zip.NewWriter(f)
	for i := range parts {
		if _, err := z.CreateHeader(&zip.FileHeader{Name: fmt.Sprintf("pages/part-with-a-name-of-some-length-%08d", i)}); err != nil {
			t.Fatal(err)
		}
	}
	w, err := z.Create("datapackage.json")
	if err == nil {
		_, err = io.WriteString(w, description)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return f.Name()
}

// TestLargePackages checks the limits for the lists in a WACZ file, which are
// kept in memory.
func TestLargePackages(t *testing.T) {
	t.Parallel()
	many := writePackage(t, "{}", 50_000)
	if got := findings(t, many); !strings.Contains(got, "the list of its parts is larger than 4194304 bytes") || strings.Contains(got, "\n") {
		t.Errorf("many parts: %.300s", got)
	}
	if _, err := Open(many); fetch.FaultOf(err) != fetch.Mismatch {
		t.Errorf("Open: %v", err)
	}
	entries := writePackage(t, `{"resources":[`+strings.Repeat("{},", maxResources)+"{}]}", 0)
	if got := findings(t, entries); !strings.Contains(got, "datapackage.json: more than 50000 resources") {
		t.Errorf("many entries: %.300s", got)
	}
	for _, list := range []string{`{}`, `{"resources":null}`, `{"resources":[]}`} {
		if got := findings(t, writePackage(t, list, 0)); got != "" {
			t.Errorf("%s: %s", list, got)
		}
	}
	if got := findings(t, writePackage(t, `{"resources":{}}`, 0)); !strings.Contains(got, "resources is not an array") {
		t.Errorf("object: %s", got)
	}
}
