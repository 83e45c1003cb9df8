package warc

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/peer"
	"github.com/anyurl/fetch/uri"
)

// TestOthers: the odd ways in which software has written records.
func TestOthers(t *testing.T) {
	unix := func(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }
	one, two := res(1, ""), res(2, "")
	for _, tc := range []struct {
		name string
		file []byte
		want string // identifiers
	}{
		{"plain", []byte(one + two), "1 2"},
		{"a file packed as a whole", members(one + two), "1 2"},
		{"a record over two members", append(members(one[:len(one)-6], one[len(one)-6:]), members(two)...), "1 2"},
		{"a head over two members", append(members(one[:20], one[20:]), members(two)...), "2"},
		{"line ends in a member of their own", members(strings.TrimSuffix(one, "\r\n\r\n"), "\r\n\r\n", two), "1 2"},
		{"an empty member", members(one, "", two), "1 2"},
		{"line feeds alone", []byte(unix(one + two)), "1 2"},
		{"more line ends than two", []byte("\r\n" + one + "\r\n\r\n\r\n" + two + "\n\n"), "1 2"},
		{"more line ends than two, packed", members("\r\n"+one+"\r\n\r\n", two), "1 2"},
		{"a line end too few", []byte(strings.TrimSuffix(one, "\r\n") + two), "1 2"},
		{"old versions", []byte(strings.Replace(one, "WARC/1.1", "WARC/0.17", 1) + strings.Replace(two, "WARC/1.1", "WARC/0.18", 1)), "1 2"},
		{"names in small letters", []byte(strings.NewReplacer("WARC-", "warc-", "Content-", "content-").Replace(one + two)), "1 2"},
		{"no space behind colons", []byte(strings.ReplaceAll(one, ": ", ":") + two), "1 2"},
		{"folded field", []byte(strings.Replace(one, "\r\nWARC-Type", "\r\nX-Folded: a\r\n\tb\r\nWARC-Type", 1) + two), "1 2"},
		{"a block that looks like records", []byte(rec(1, "WARC-Type: metadata", one+one) + two), "1 2"},
		{"no line end at the end, packed", members(one, strings.TrimSuffix(two, "\r\n\r\n")), "1 2"},
		{"optional fields of gzip", append(gzipNamed(t, one), members(two)...), "1 2"},
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
						if tc.name != "a head over two members" {
							t.Error(err)
						}
						continue
					}
					if body, err := io.ReadAll(r); err != nil || h.Type() == Resource && string(body) != "hello" {
						t.Errorf("block %q, %v", body, err)
					}
					ids = append(ids, strings.TrimPrefix(h.ID(), "urn:x:"))
				}
				if got := strings.Join(ids, " "); got != tc.want {
					t.Errorf("read %q", got)
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

// TestWget: what wget records of http and ftp is read, indexed as warcio does
// it, and replayed; what is wrong with it is noted.
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
	cmd := exec.Command(wget, "--no-config", "-q", "-r", "-nd", "--level=1", "--no-parent", "--delete-after", "--warc-file=crawl", "--warc-max-size=0", "--no-verbose", root, file)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil && !strings.Contains(err.Error(), "status 8") { // no robots.txt
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
	if theirs := strings.Join(slices.Compact(lines), ""); theirs != ours.String() {
		t.Errorf("warcio has\n%swe have\n%s", theirs, ours.String())
	}
	a, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	for url, want := range map[string]string{root + "motd.txt": "hello\n", root: "<title>Index of /sub/</title>", file: "by ftp\n"} {
		resp, err := driver{a}.Do(t.Context(), &fetch.Request{URL: uri.MustParse(url)})
		if err != nil {
			t.Errorf("%s: %v", url, err)
			continue
		}
		body, err := io.ReadAll(resp.Body)
		if !strings.Contains(string(body), want) || err != nil && !errors.Is(err, fetch.Mismatch) {
			t.Errorf("%s: %q, %v", url, body, err)
		}
		resp.Body.Close()
	}
	os.Remove(path)
}
