package sftp_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/fetchtest"
	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/schemes/sftp"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// big is binary data that exceeds all buffers and the requests in flight.
var big = bytes.Repeat([]byte("0123456789abcdef\x00\xff\r\n"), 300_000)

func TestOpenSSH(t *testing.T) {
	s := peer.SSHD(t, peer.SSHDOptions{})
	s.Put("sub/data.bin", big)
	s.Put("sub/a b#?.txt", []byte("x"))
	s.Put("empty", nil)
	for _, link := range [][2]string{{"data.bin", "sub/link"}, {"..", "sub/up"}, {"nowhere", "sub/dangling"}} {
		if err := os.Symlink(link[0], filepath.Join(s.Root, link[1])); err != nil {
			t.Fatal(err)
		}
	}
	o := sftp.Options{KnownHosts: []string{s.KnownHosts}, Key: s.UserKey}
	root := "sftp://" + peer.User + "@" + s.Addr + s.Root
	fetchtest.Run(t, fetchtest.Suite{
		Schemes:  func() []fetch.Scheme { return sftp.Schemes(o) },
		Document: root + "/sub/data.bin",
		Body:     big,
		Missing:  root + "/nosuch",
		Menu:     root + "/sub/",
		Names:    []string{"data.bin", "a b#?.txt", "link", "up", "dangling"},
		Rejected: []string{"sftp:///x", "sftp://127.0.0.1/a?b", "sftp://127.0.0.1/a%00b", "sftp://127.0.0.1:25/", "sftp://127.0.0.1:6379/"},
	})
	c := schemetest.NewClient(t, sftp.Schemes(o))
	for _, test := range []struct{ name, url, want string }{
		{"empty file", root + "/empty", `document "" 0 bytes`},
		{"directory without a slash", root + "/sub", "menu of 5"},
		{"link to a file", root + "/sub/link", "document of 6000000 bytes"},
		{"link to a directory", root + "/sub/up/sub/up/", "menu of 2"},
		{"dangling link", root + "/sub/dangling", "not-found"},
		{"file with a slash", root + "/empty/", "not-found"},
		{"file in a file", root + "/empty/x", "not-found"},
		{"device", "sftp://" + peer.User + "@" + s.Addr + "/dev/null", "server-perm"},
		{"file that may not be read", "sftp://" + peer.User + "@" + s.Addr + "/etc/shadow", "server-perm"},
		{"file whose size is wrong", "sftp://" + peer.User + "@" + s.Addr + "/proc/self/cmdline", "document of more than 0 bytes"},
		{"home", "sftp://" + peer.User + "@" + s.Addr + "/~/", "menu of 0"},
		{"scp", "scp" + strings.TrimPrefix(root, "sftp") + "/empty", `document "" 0 bytes`},
		{"other user", "sftp://bob@" + s.Addr + "/", "auth"},
	} {
		if got := summary(c.Get(t.Context(), test.url)); got != test.want {
			t.Errorf("%s: got %s, want %s", test.name, got, test.want)
		}
	}
	all, err := schemetest.List(t, c, root+"/sub/")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range all {
		e.Time = time.Time{}
		got = append(got, schemetest.DescribeEntry(e, root))
	}
	slices.Sort(got)
	if want := `document "a b#?.txt" /sub/a%20b%23%3F.txt text/plain 1
document "data.bin" /sub/data.bin application/octet-stream 6000000
document "link" /sub/link 6000000 link="data.bin"
menu "up" /sub/up/ application/x-ndjson; profile=fetch-entries link=".."
unknown "dangling" /sub/dangling link="nowhere"`; strings.Join(got, "\n") != want {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), want)
	}
}

// summary describes a response in a few words.
func summary(resp *fetch.Response, err error) string {
	if err != nil {
		return fetch.FaultOf(err).String()
	}
	defer resp.Body.Close()
	if resp.Kind == fetch.Menu {
		n := 0
		for _, err := range resp.Entries() {
			if err != nil {
				return err.Error()
			}
			n++
		}
		return fmt.Sprintf("menu of %d", n)
	}
	body, err := io.ReadAll(resp.Body)
	switch {
	case err != nil:
		return err.Error()
	case len(body) == 0:
		return fmt.Sprintf("document %q %d bytes", body, resp.Size)
	case resp.Size <= 0:
		return fmt.Sprintf("document of more than %d bytes", max(resp.Size, 0))
	}
	return fmt.Sprintf("document of %d bytes", len(body))
}

// TestPassword tests the login with a password, and that keys are not used for
// URLs that a server supplied.
func TestPassword(t *testing.T) {
	s := peer.SSHD(t, peer.SSHDOptions{})
	s.Put("a", []byte("hello"))
	path := "@" + s.Addr + s.Root + "/a"
	withKey := sftp.Options{KnownHosts: []string{s.KnownHosts}, Key: s.UserKey}
	without := sftp.Options{KnownHosts: []string{s.KnownHosts}, Key: s.KnownHosts}
	for _, test := range []struct {
		name, url, from string
		o               sftp.Options
		want            string
	}{
		{"password", "sftp://alice:s3cret" + path, "", withKey, "hello"},
		{"wrong password, but a key", "sftp://alice:wrong" + path, "", withKey, "hello"},
		{"key that is no key", "sftp://alice" + path, "", without, "io-local"},
		{"link of the same server", "sftp://alice" + path, "sftp://" + s.Addr + "/", withKey, "hello"},
		{"link of another server", "sftp://alice" + path, "sftp://127.0.0.1:2222/", withKey, "auth"},
	} {
		req := schemetest.NewRequest(t, test.url)
		if test.from != "" {
			req.From = &fetch.Source{URL: schemetest.NewRequest(t, test.from).URL}
		}
		c := schemetest.NewClient(t, sftp.Schemes(test.o))
		_, got, err := schemetest.ReadRequest(t, c, req)
		if err != nil {
			got = fetch.FaultOf(err).String()
		}
		if got != test.want {
			t.Errorf("%s: got %s, %v, want %s", test.name, got, err, test.want)
		}
	}
}
