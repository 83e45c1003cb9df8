package zst_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/warc"
	"github.com/anyurl/fetch/warc/zst"
)

func ExampleNew() {
	path, err := os.MkdirTemp("", "zst")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(path)
	dir, err := os.OpenRoot(path)
	if err != nil {
		log.Fatal(err)
	}
	defer dir.Close()
	compressor, err := zst.New()
	if err != nil {
		log.Fatal(err)
	}
	w, err := warc.NewWriter(dir, warc.Options{Name: "x.warc.zst", Zstd: compressor})
	if err != nil {
		log.Fatal(err)
	}
	c := warc.Capture{URL: uri.MustParse("ftp://ftp.example.org/motd.txt"), Date: time.Unix(0, 0)}
	if _, err := w.Write(c.Resource("text/plain", strings.NewReader("welcome\n"))); err != nil {
		log.Fatal(err)
	}
	if err := w.Close(); err != nil {
		log.Fatal(err)
	}
	for e, err := range warc.FileEntries(filepath.Join(path, "x.warc.zst")) {
		fmt.Println(e.URL, e.Media, err)
	}
	// Output: ftp://ftp.example.org/motd.txt text/plain <nil>
}
