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

	"github.com/anyurl/fetch/internal/coding"
	"github.com/anyurl/fetch/internal/http1"
	"github.com/anyurl/fetch/internal/peer"
)

const warcio = "warcio@2.4.11"

// TestWarcioIndex: warcio makes the same index of an archive, packed or not,
// to the byte.
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
		if theirs := strings.Join(lines, ""); theirs != ours.String() {
			t.Errorf("plain %v: warcio has\n%swe have\n%s", plain, theirs, ours.String())
		}
	}
}

func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil || errs.Len() > 0 { // warcio warns where a length is wrong
		t.Fatalf("%s: %v\n%s", cmd, err, errs.String())
	}
	return string(out)
}

// TestWarcioRecords: warcio finds the records that were written, with what
// they say of one another, and in each the content.
func TestWarcioRecords(t *testing.T) {
	node, library := peer.NeedModule(t, warcio, "warcio", "dist/index.js")
	opts := testOptions()
	opts.Digest = SHA256
	path := sample(t, opts)
	theirs := bufio.NewScanner(strings.NewReader(run(t, node, "testdata/warcio.mjs", library, path)))
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
		var they struct {
			Type       Type
			URL, ID    string
			Concurrent []string
			Status     int
			Content    string
		}
		if !theirs.Scan() || json.Unmarshal(theirs.Bytes(), &they) != nil {
			t.Fatalf("warcio has no record %d (%s)", n, theirs.Text())
		}
		content, status := contentOf(t, r, h)
		sum := sha1.Sum(content)
		if they.Type != h.Type() || they.URL != h.Target() || unbracket(they.ID) != h.ID() || they.Status != status ||
			!slices.Equal(they.Concurrent, h.Fields.Values("WARC-Concurrent-To")) || they.Content != hex.EncodeToString(sum[:]) {
			t.Errorf("warcio has %+v, we have %+v and %q", they, h, content)
		}
	}
	if theirs.Scan() || n < 20 {
		t.Errorf("warcio has more than our %d records: %s", n, theirs.Text())
	}
}

// contentOf is the content of a record: of an http message the entity, its
// codings taken off.
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
