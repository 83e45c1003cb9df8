package warc

import (
	"os"
	"testing"
)

func TestSample(t *testing.T) {
	path := sample(t, testOptions())
	for f, err := range Verify(path) {
		t.Error(f, err)
	}
	b, _ := os.ReadFile(path)
	os.WriteFile("/tmp/sample.warc.gz", b, 0o666)
	f, _ := os.Create("/tmp/sample.cdxj")
	if err := Index(f, "/tmp/sample.warc.gz"); err != nil {
		t.Error(err)
	}
	f.Close()
}
