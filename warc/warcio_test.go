package warc

import (
	"bufio"
	"bytes"
	"crypto/sha1"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/anyurl/fetch/internal/format/coding"
	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/internal/wire/http1"
)

const warcio = "warcio@2.4.11"

// TestWarcioIndex compares the index with the index of warcio byte for byte.
func TestWarcioIndex(t *testing.T) {
	node, cli := peer.NeedModule(t, warcio, "warcio", "dist/cli.js")
	for _, plain := range []bool{false, true} {
		opts := testOptions()
		opts.Uncompressed = plain
		path := sample(t, opts)
		var ours bytes.Buffer
		if err := Index(&ours, path); err != nil {
			t.Fatal(err)
		}
		lines := strings.SplitAfter(run(t, node, cli, "cdx-index", path), "\n")
		slices.Sort(lines)
		if output := strings.Join(lines, ""); output != ours.String() {
			t.Errorf("uncompressed %v: warcio wrote\n%sgot\n%s", plain, output, ours.String())
		}
	}
}

func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil || errs.Len() > 0 { // warcio prints a warning for a wrong length
		t.Fatalf("%s: %v\n%s", cmd, err, errs.String())
	}
	return string(out)
}

// TestWarcioRecords verifies that warcio reads the same header fields and
// content.
func TestWarcioRecords(t *testing.T) {
	node, library := peer.NeedModule(t, warcio, "warcio", "dist/index.js")
	opts := testOptions()
	opts.Digest = SHA256
	path := sample(t, opts)
	output := bufio.NewScanner(strings.NewReader(run(t, node, "testdata/warcio.mjs", library, path)))
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := NewReader(f)
	n := 0
	for ; ; n++ {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		var got struct {
			Type       Type
			URL, ID    string
			Concurrent []string
			Status     int
			Content    string
		}
		if !output.Scan() || json.Unmarshal(output.Bytes(), &got) != nil {
			t.Fatalf("warcio did not return record %d: %s", n, output.Text())
		}
		content, status := contentOf(t, r, h)
		sum := sha1.Sum(content)
		if got.Type != h.Type() || got.URL != h.Target() || trimBrackets(got.ID) != h.ID() || got.Status != status ||
			!slices.Equal(got.Concurrent, h.Fields.Values("WARC-Concurrent-To")) || got.Content != hex.EncodeToString(sum[:]) {
			t.Errorf("warcio returned %+v, want %+v and %q", got, h, content)
		}
	}
	if output.Scan() || n < 20 {
		t.Errorf("warcio returned more than %d records: %s", n, output.Text())
	}
}

// contentOf returns the block of a record. For an HTTP message, it returns the
// decoded body.
func contentOf(t *testing.T, r *Reader, h *Header) (content []byte, status int) {
	t.Helper()
	if !strings.HasPrefix(h.Get("Content-Type"), "application/http") {
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		return content, 0
	}
	m := http1.NewReader(r, 100)
	head, err := m.ReadHead()
	if err != nil {
		t.Fatal(err)
	}
	status, fields := parseHead(head)
	in := io.Reader(m)
	if fields.Get("Content-Encoding") == "gzip" {
		in = coding.NewReader(io.NopCloser(m), []string{"gzip"}, nil)
	}
	if content, err = io.ReadAll(in); err != nil {
		t.Fatal(err)
	}
	return content, status
}
