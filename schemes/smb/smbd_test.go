package smb

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/internal/test/schemetest"
)

// TestSmbdSettings uses servers of Samba with other settings.
func TestSmbdSettings(t *testing.T) {
	document := fmt.Sprintf("document of %d bytes", len(big))
	for _, test := range []struct {
		setting                string
		anonymous, user, guest string
		list                   string // the directory, for the user
	}{
		{"server signing = mandatory", document, document, document, "menu of 1"},
		{"server smb encrypt = required", "auth", document, "auth", "menu of 1"},
		{"map to guest = never", document, document, "auth", "menu of 1"},
		{"restrict anonymous = 2", document, document, document, "menu of 1"},
		{"server max protocol = SMB2_02", document, document, document, "menu of 1"},
		{"server max protocol = SMB2_10", document, document, document, "menu of 1"},
		{"server max protocol = SMB3_00", document, document, document, "menu of 1"},
		{"server max protocol = SMB3_02", document, document, document, "menu of 1"},
		{"server max protocol = NT1\nserver min protocol = NT1", "connect", "connect", "connect", "connect"},
		{"smb2 max read = 65536\nsmb2 max credits = 32", document, document, document, "menu of 1"},
		{"server smb encrypt = required\nserver smb3 encryption algorithms = AES-128-CCM", "auth", document, "auth", "unsupported"},
		{"server smb encrypt = required\nserver smb3 encryption algorithms = AES-256-GCM", "protocol", "protocol", "protocol", "protocol"},
	} {
		t.Run(test.setting, func(t *testing.T) {
			t.Parallel()
			s := peer.Smbd(t, test.setting)
			s.Put("data.bin", big)
			c := schemetest.NewClient(t, Schemes())
			for user, want := range map[string]string{"": test.anonymous, peer.User + ":" + peer.Password + "@": test.user, "guest:@": test.guest} {
				resp, err := c.Get(t.Context(), "smb://"+user+s.Addr+"/files/data.bin")
				if got := schemetest.Summary(resp, err); got != want {
					t.Errorf("%q: %s, want %s: %v", user, got, want, err)
				}
			}
			resp, err := c.Get(t.Context(), "smb://"+peer.User+":"+peer.Password+"@"+s.Addr+"/files/")
			if got := schemetest.Summary(resp, err); got != test.list {
				t.Errorf("directory: %s, want %s: %v", got, test.list, err)
			}
		})
	}
}

// TestSmbdLinks tests links and names on a server of Samba.
func TestSmbdLinks(t *testing.T) {
	s := peer.Smbd(t)
	s.Put("d/f", []byte("x"))
	s.Put("d/a:b", []byte("x"))
	s.Put("d/dot.", []byte("x"))
	for name, target := range map[string]string{"inside": "f", "outside": "/etc/passwd", "loop": "loop", "folder": "/etc"} {
		if err := os.Symlink(target, filepath.Join(s.Root, "d", name)); err != nil {
			t.Fatal(err)
		}
	}
	c := schemetest.NewClient(t, Schemes())
	root := "smb://" + s.Addr + "/files/d/"
	for path, want := range map[string]string{
		"inside": "document of 1 bytes", "outside": "not-found", "loop": "not-found", "folder/passwd": "not-found", "f/x": "not-found",
	} {
		resp, err := c.Get(t.Context(), root+path)
		if got := schemetest.Summary(resp, err); got != want {
			t.Errorf("%s: %s, want %s: %v", path, got, want, err)
		}
	}
	all, err := schemetest.List(t, c, root)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		t.Logf("%s %q %v", e.Kind, e.Name, e.URL)
		if e.URL.IsZero() {
			continue
		}
		if got := schemetest.Summary(c.Get(t.Context(), e.URL.String())); got != "document of 1 bytes" {
			t.Errorf("%s: %s", e.URL, got)
		}
	}
}
