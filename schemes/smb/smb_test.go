package smb

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/anyurl/fetch/fetch/fetchtest"
	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/internal/test/schemetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// big is binary data that exceeds all buffers.
var big = bytes.Repeat([]byte("0123456789abcdef\x00\xff\r\n"), 200_000)

// TestSmbd uses the server of Samba.
func TestSmbd(t *testing.T) {
	s := peer.Smbd(t)
	s.Put("dir/data.bin", big)
	s.Put("dir/a b#&%é日本.txt", []byte("x"))
	s.Put("dir/sub/y", []byte("y"))
	s.Put("empty", nil)
	old := time.Unix(1_000_000_000, 0).UTC()
	if err := os.Chtimes(filepath.Join(s.Root, "empty"), old, old); err != nil {
		t.Fatal(err)
	}
	root := "smb://" + s.Addr + "/files"
	fetchtest.Run(t, fetchtest.Suite{
		Schemes:  Schemes,
		Document: root + "/dir/data.bin",
		Body:     big,
		Missing:  root + "/nosuch",
		Menu:     root + "/dir/",
		Names:    []string{"data.bin", "a b#&%é日本.txt", "sub"},
		Rejected: []string{"smb:///x", "smb://127.0.0.1/m/a?b", "smb://127.0.0.1/m/a%00b", "smb://127.0.0.1/m/..%5Cx", "smb://127.0.0.1/m/%2E%2E/x",
			"smb://127.0.0.1/m/a:b", "smb://127.0.0.1/ipc$/srvsvc", "smb://127.0.0.1:25/m/", "smb://127.0.0.1:6379/m/"},
	})
	c := schemetest.NewClient(t, Schemes())
	login := strings.Replace(root, "smb://", "smb://"+peer.User+":"+peer.Password+"@", 1)
	share := func(url, name string) string { return strings.Replace(url, "/files", "/"+name, 1) }
	for _, test := range []struct{ name, url, want string }{
		{"shares", "smb://" + s.Addr + "/", "menu of 4"}, // without "hidden", but with IPC$
		{"shares without a slash", "smb://" + s.Addr, "menu of 4"},
		{"share", root + "/", "menu of 2"},
		{"share without a slash", root, "menu of 2"},
		{"hidden share", share(root, "hidden") + "/", "menu of 2"},
		{"missing share", share(root, "none") + "/", "not-found"},
		{"empty file", root + "/empty", "document of 0 bytes"},
		{"other case", root + "/DIR/Sub/Y", "document of 1 bytes"},
		{"special characters", root + "/dir/a%20b%23&%25%C3%A9%E6%97%A5%E6%9C%AC.txt", "document of 1 bytes"},
		{"directory without a slash", root + "/dir", "menu of 3"},
		{"file with a slash", root + "/empty/", "not-found"},
		{"missing directory", root + "/none/", "not-found"},
		{"file as directory", root + "/empty/x", "not-found"},
		{"login", share(login, "private") + "/empty", "document of 0 bytes"},
		{"login with a domain", strings.Replace(share(login, "private"), "smb://", "smb://WORKGROUP;", 1) + "/dir/data.bin", fmt.Sprintf("document of %d bytes", len(big))},
		{"no login", share(root, "private") + "/empty", "auth"},
		{"wrong password", strings.Replace(share(login, "private"), peer.Password, "x", 1) + "/empty", "auth"},
		{"unknown user", strings.Replace(login, peer.User, "bob", 1) + "/empty", "auth"}, // the server logs in a guest
		{"guest", strings.Replace(login, peer.User+":"+peer.Password, "guest:", 1) + "/empty", "document of 0 bytes"},
		{"encrypted file", share(login, "secret") + "/dir/data.bin", fmt.Sprintf("document of %d bytes", len(big))},
		{"shares with a login", strings.TrimSuffix(login, "/files") + "/", "menu of 4"},
	} {
		if got := schemetest.Summary(c.Get(t.Context(), test.url)); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
	all, err := schemetest.List(t, c, root+"/")
	var got []string
	for _, e := range all {
		if e.Name == "empty" && !e.Time.Equal(old) {
			t.Errorf("time %v", e.Time)
		}
		got = append(got, fmt.Sprintf("%s %s %s %d", e.Kind, e.Name, strings.TrimPrefix(e.URL.String(), root), e.Size))
	}
	slices.Sort(got)
	if want := []string{"document empty /empty 0", "menu dir /dir/ -1"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v", got, err)
	}
	req := schemetest.NewRequest(t, root+"/empty")
	req.Since = old
	if resp, _, err := schemetest.ReadRequest(t, c, req); err != nil || !resp.Unchanged {
		t.Errorf("unchanged: %v", err)
	}
}
