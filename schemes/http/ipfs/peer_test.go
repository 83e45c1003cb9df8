package ipfs

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"golang.org/x/crypto/blake2b"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/fetchtest"
	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/internal/test/schemetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// big is binary data that exceeds all buffers. Some of its blocks are equal.
var big = append(bytes.Repeat([]byte("0123456789"), 5000), bytes.Repeat([]byte("0123456789abcdef\x00\xff\r\n!"), 30_000)...)

// many is the number of files in a directory whose shards have shards.
const many = 600

// fill creates the directory that the peer serves.
func fill(t testing.TB) func(dir string) {
	return func(dir string) {
		files := map[string][]byte{
			"data.bin": big, "empty": nil, "dir/a b#?+%.txt": []byte("x"), "dir/é\xff": []byte("latin"), "dir/sub/y": []byte("yes"), "dir/..x": []byte("dots"),
		}
		for i := range many {
			files[fmt.Sprintf("many/file %d", i)] = fmt.Append(nil, i)
		}
		for name, text := range files {
			name = filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, text, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Symlink("data.bin", filepath.Join(dir, "link")); err != nil {
			t.Fatal(err)
		}
	}
}

// TestServer reads objects in several forms from a gateway of another
// implementation.
func TestServer(t *testing.T) {
	s := peer.BoxoGateway(t, fill(t))
	o := Options{Gateway: "http://" + s.Addr, Blake2b: blake2b.Sum256}
	for form, root := range s.CIDs {
		t.Run(form, func(t *testing.T) {
			c := schemetest.NewClient(t, Schemes(o))
			base := "ipfs://" + root
			if form == "sha512" { // of which no block can be verified
				if got := schemetest.Summary(c.Get(t.Context(), base)); got != "invalid-uri" && got != "unsupported" && got != "policy-address" {
					t.Error(got)
				}
				return
			}
			if id, sensitive, err := parseText(root); err != nil {
				t.Fatal(err)
			} else if sensitive { // the client is redirected from such identifiers
				base = "ipfs://" + id.String()
			}
			fetchtest.Run(t, fetchtest.Suite{
				Schemes:  func() []fetch.Scheme { return Schemes(o) },
				Document: base + "/data.bin", Configured: true,
				Body:    big,
				Missing: base + "/nosuch",
				Menu:    base + "/dir/",
				Names:   []string{"a b#?+%.txt", "é\ufffd", "sub"},
				Rejected: []string{"ipfs:///x", "ipfs://x/y", "ipfs://user@" + root + "/", base + "?a=b", base + ":80/", base + "/%2E%2E/x", base + "/a//b", base + "/%2F",
					"ipfs://" + strings.ToUpper(root[:1]) + root[1:40] + "/", base + "/" + strings.Repeat("k", maxPath+1), base + strings.Repeat("/k", maxNames+1)},
			})
			for _, test := range []struct{ name, url, want string }{
				{"root", base + "/", "menu of 5"},
				{"root without a slash", base, "menu of 5"},
				{"other form of the identifier", "ipfs://" + root + "/dir/", "menu of 4"},
				{"upper case", "ipfs://" + strings.ToUpper(strings.TrimPrefix(base, "ipfs://")) + "/dir/", "menu of 4"},
				{"special characters", base + "/dir/a%20b%23%3F%2B%25.txt", "document of 1 bytes"},
				{"bytes that are not UTF-8", base + "/dir/%C3%A9%FF", "document of 5 bytes"},
				{"dots", base + "/dir/..x", "document of 4 bytes"},
				{"directory without a slash", base + "/dir", "menu of 4"},
				{"empty file", base + "/empty", "document of 0 bytes"},
				{"file with a slash", base + "/dir/sub/y/", "not-found"},
				{"below a file", base + "/dir/sub/y/z", "not-found"},
				{"no such directory", base + "/none/x", "not-found"},
				{"symbolic link", base + "/link", "unsupported"},
				{"below a symbolic link", base + "/link/x", "unsupported"},
				{"many files", base + "/many/", fmt.Sprintf("menu of %d", many)},
				{"one of many", base + "/many/file%20123", "document of 3 bytes"},
				{"none of many", base + "/many/file%20" + fmt.Sprint(many), "not-found"},
			} {
				if got := schemetest.Summary(c.Get(t.Context(), test.url)); got != test.want {
					t.Errorf("%s: %s, want %s", test.name, got, test.want)
				}
			}
			all, err := schemetest.List(t, c, base+"/")
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]string{}
			for _, e := range all {
				got[e.Name] = fmt.Sprintf("%s %d %s", e.Kind, e.Size, strings.TrimPrefix(e.URL.String(), base))
			}
			want := map[string]string{
				"data.bin": fmt.Sprintf("document %d /data.bin", len(big)), "empty": "document 0 /empty", "dir": "menu -1 /dir/", "many": "menu -1 /many/", "link": "info -1 ",
			}
			if !maps.Equal(got, want) {
				t.Errorf("got %q\nwant %q", got, want)
			}
		})
	}
}

// TestRequests counts the requests for a file, which a CAR file contains.
func TestRequests(t *testing.T) {
	s := peer.BoxoGateway(t, fill(t))
	for _, form := range []string{"raw", "trickle", "shard"} {
		c := schemetest.NewClient(t, Schemes(Options{Gateway: "http://" + s.Addr}))
		for _, test := range []struct {
			path string
			r    fetch.Range
		}{
			{"data.bin", fetch.Range{}}, {"data.bin", fetch.Range{First: 123_456, End: 345_678}}, {"data.bin", fetch.Range{First: -20_000}}, {"many/file%2077", fetch.Range{}},
		} {
			req := schemetest.NewRequest(t, "ipfs://"+s.CIDs[form]+"/"+test.path)
			req.Range = test.r
			var sent []byte
			req.Trace = traceSent(&sent)
			_, text, err := schemetest.ReadRequest(t, c, req)
			requests := bytes.Count(sent, []byte("GET "))
			if first, end, _ := test.r.Bounds(int64(len(big))); test.path == "data.bin" && text != string(big[first:end]) || err != nil {
				t.Errorf("%s %s %v: %d bytes, %v", form, test.path, test.r, len(text), err)
			}
			if requests != 1 {
				t.Errorf("%s %s %v: %d requests", form, test.path, test.r, requests)
			}
		}
	}
}

// TestConditions compares the validator of a file, which is its identifier.
func TestConditions(t *testing.T) {
	s := peer.BoxoGateway(t, fill(t))
	c := schemetest.NewClient(t, Schemes(Options{Gateway: "http://" + s.Addr}))
	url := "ipfs://" + s.CIDs["raw"] + "/data.bin"
	resp, _, err := schemetest.Read(t, c, url)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := parseText(resp.Validator); err != nil {
		t.Errorf("validator %q", resp.Validator)
	}
	for _, test := range []struct {
		name          string
		ifNot, ifSame string
		offset        int64
		unchanged     bool
	}{
		{"same", resp.Validator, "", 5, true},
		{"other", "x", "", 5, false},
		{"resume", "", resp.Validator, 5, false},
		{"resume another file", "", "x", 0, false},
	} {
		req := schemetest.NewRequest(t, url)
		req.IfNot, req.IfSame, req.Range = test.ifNot, test.ifSame, fetch.Range{First: 5}
		resp, text, err := schemetest.ReadRequest(t, c, req)
		if err != nil || resp.Unchanged != test.unchanged || !test.unchanged && (resp.Offset != test.offset || text != string(big[test.offset:])) {
			t.Errorf("%s: %d bytes from %d, %v, %v", test.name, len(text), resp.Offset, resp.Unchanged, err)
		}
	}
	forms := slices.Sorted(maps.Keys(s.CIDs))
	if len(forms) < 6 {
		t.Errorf("forms %q", forms)
	}
}
