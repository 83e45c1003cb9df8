package warc

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/uri"
)

// TestForeignRecords reads records with deviations that other software has
// written.
func TestForeignRecords(t *testing.T) {
	unix := func(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }
	one, two := res(1, ""), res(2, "")
	for _, tc := range []struct {
		name string
		file []byte
		want string // record IDs
	}{
		{"uncompressed", []byte(one + two), "1 2"},
		{"one member with all records", members(one + two), "1 2"},
		{"record in two members", append(members(one[:len(one)-6], one[len(one)-6:]), members(two)...), "1 2"},
		{"header in two members", append(members(one[:20], one[20:]), members(two)...), "2"},
		{"line breaks in a separate member", members(strings.TrimSuffix(one, "\r\n\r\n"), "\r\n\r\n", two), "1 2"},
		{"empty member", members(one, "", two), "1 2"},
		{"LF line breaks", []byte(unix(one + two)), "1 2"},
		{"extra line breaks", []byte("\r\n" + one + "\r\n\r\n\r\n" + two + "\n\n"), "1 2"},
		{"extra line breaks, compressed", members("\r\n"+one+"\r\n\r\n", two), "1 2"},
		{"one line break after the block", []byte(strings.TrimSuffix(one, "\r\n") + two), "1 2"},
		{"old versions", []byte(strings.Replace(one, "WARC/1.1", "WARC/0.17", 1) +
			strings.Replace(two, "WARC/1.1", "WARC/0.18", 1)), "1 2"},
		{"field names in lower case",
			[]byte(strings.NewReplacer("WARC-", "warc-", "Content-", "content-").Replace(one + two)), "1 2"},
		{"no space after colons", []byte(strings.ReplaceAll(one, ": ", ":") + two), "1 2"},
		{"folded field", []byte(strings.Replace(one, "\r\nWARC-Type", "\r\nX-Folded: a\r\n\tb\r\nWARC-Type", 1) + two),
			"1 2"},
		{"block with the text of records", []byte(rec(1, "WARC-Type: metadata", one+one) + two), "1 2"},
		{"no final line breaks, compressed", members(one, strings.TrimSuffix(two, "\r\n\r\n")), "1 2"},
		{"gzip header with a file name", append(gzipNamed(t, one), members(two)...), "1 2"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, in := range []io.Reader{bytes.NewReader(tc.file), io.MultiReader(bytes.NewReader(tc.file))} {
				r := NewReader(in)
				var ids []string
				for {
					h, err := r.Next()
					if err == io.EOF {
						break
					}
					if err != nil {
						if tc.name != "header in two members" {
							t.Error(err)
						}
						continue
					}
					if body, err := io.ReadAll(r); err != nil || h.Type() == Resource && string(body) != "hello" {
						t.Errorf("got block %q, %v", body, err)
					}
					ids = append(ids, strings.TrimPrefix(h.ID(), "urn:x:"))
				}
				if got := strings.Join(ids, " "); got != tc.want {
					t.Errorf("got records %q", got)
				}
			}
		})
	}
}

func gzipNamed(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := newNamed(&b)
	if _, err := io.WriteString(z, text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestWget reads, indexes and replays files that wget recorded over HTTP and
// FTP. The index must equal the index of warcio.
func TestWget(t *testing.T) {
	wget := peer.Need(t, "wget", "wget")
	node, cli := peer.NeedModule(t, warcio, "warcio", "dist/cli.js")
	web := peer.Nginx(t, peer.NginxOptions{})
	web.Put("sub/motd.txt", []byte("hello\n"))
	web.Put("sub/other.html", []byte("<a href=motd.txt>motd</a>"))
	ftp := peer.Vsftpd(t, peer.FTPOptions{})
	ftp.Put("file.txt", []byte("by ftp\n"))
	dir := t.TempDir()
	root := "http://" + web.Addr + "/sub/"
	file := "ftp://" + ftp.Addr + "/file.txt"
	cmd := exec.Command(wget, "--no-config", "-q", "-r", "-nd", "--level=1", "--no-parent", "--delete-after",
		"--warc-file=crawl", "--warc-max-size=0", "--no-verbose", root, file)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil && !strings.Contains(err.Error(), "status 8") { // robots.txt is missing
		t.Fatalf("%v: %s", err, out)
	}
	path := filepath.Join(dir, "crawl.warc.gz")
	for f, err := range Verify(path) {
		if err != nil || !f.Note || f.Problem != BadPayloadDigest {
			t.Error(f, err)
		}
	}
	var ours bytes.Buffer
	if err := Index(&ours, path); err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(run(t, node, cli, "cdx-index", path), "\n")
	slices.Sort(lines)
	if warcioText := strings.Join(slices.Compact(lines), ""); warcioText != ours.String() {
		t.Errorf("warcio wrote\n%sgot\n%s", warcioText, ours.String())
	}
	a, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	for url, want := range map[string]string{root + "motd.txt": "hello\n", root: "<title>Index of /sub/</title>",
		file: "by ftp\n"} {
		resp, err := driver{a}.Do(t.Context(), &fetch.Request{URL: uri.MustParse(url)})
		if err != nil {
			t.Errorf("%s: %v", url, err)
			continue
		}
		body, err := io.ReadAll(resp.Body)
		if !strings.Contains(string(body), want) || err != nil {
			t.Errorf("%s: got body %q, %v", url, body, err)
		}
		resp.Body.Close()
	}
	os.Remove(path)
}
