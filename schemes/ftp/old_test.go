package ftp_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/schemes/ftp"
)

// TestOld: a server of the old kind, which runs ls for its listings.
func TestOld(t *testing.T) {
	s := peer.InetutilsFTPd(t, peer.FTPOptions{})
	s.PutHome("pub/motd", []byte("hello\n"))
	s.PutHome("pub/total 4", []byte("a name\n"))
	s.PutHome("unread/motd", []byte("hello\n"))
	if err := os.Mkdir(filepath.Join(s.Home, "empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(s.Home, "unread"), 0o311); err != nil {
		t.Fatal(err)
	}
	c := client(t, ftp.Options{})
	base := "ftp://" + peer.User + ":" + peer.Password + "@" + s.Addr
	for _, test := range []struct {
		path  string
		names []string
		fault fetch.Fault
	}{
		{"/pub/", []string{"motd", "total 4"}, 0},
		{"/empty/", nil, 0},
		{"/unread/", []string{".: Permission denied"}, fetch.Denied},
		{"/nothing/", nil, fetch.NotFound},
	} {
		var names []string
		resp, err := c.Get(t.Context(), base+test.path)
		if err == nil {
			for e, failed := range resp.Entries() {
				if err = failed; err == nil {
					names = append(names, e.Name)
				}
			}
		}
		if !slices.Equal(names, test.names) || fetch.FaultOf(err) != test.fault {
			t.Errorf("%s: got %q, %v, want %q, %v", test.path, names, err, test.names, test.fault)
		}
	}
	for path, want := range map[string]string{"/pub/motd": "hello\n", "/pub/total%204": "a name\n", "/unread/motd": "hello\n"} {
		if got := get(t, c, base+path); got != want {
			t.Errorf("%s: got %q, want %q", path, got, want)
		}
	}
	if resp, err := c.Get(t.Context(), base+"/pub/nothing"); !errors.Is(err, fetch.NotFound) {
		t.Errorf("missing: %v", err)
		io.Copy(io.Discard, resp.Body)
	}
}
