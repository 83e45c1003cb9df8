package ftp_test

import (
	"slices"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/schemes/ftp"
)

// TestHidden lists directories with hidden files. With the method nocwd, the
// directory is an argument of the listing command. inetutils splits it at the
// space.
func TestHidden(t *testing.T) {
	for name, start := range map[string]func(peer.TB, peer.FTPOptions) *peer.Server{
		"vsftpd": peer.Vsftpd, "proftpd": peer.Proftpd, "pure-ftpd": peer.PureFTPd, "inetutils": peer.InetutilsFTPd,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, peer.FTPOptions{})
			for _, file := range []string{"motd", ".hidden", "-d/motd", "-d/.hidden", "a b/.hidden"} {
				s.PutHome(file, []byte("hello\n"))
			}
			for _, opts := range []ftp.Options{{}, {Hidden: true}, {Method: ftp.NoCWD}} {
				if opts.Method == ftp.NoCWD && name == "inetutils" {
					continue
				}
				c := client(t, opts)
				base := "ftp://" + peer.User + ":" + peer.Password + "@" + s.Addr
				for path, want := range map[string][]string{
					"/": {"-d", ".hidden", "a b", "motd"}, "/-d/": {".hidden", "motd"}, "/a%20b/": {".hidden"},
				} {
					for range 2 { // in a new session, and in an idle one
						if got := namesIn(t, c, base+path); !slices.Equal(got, want) {
							t.Errorf("method %d, %s: got %q, want %q", opts.Method, path, got, want)
						}
					}
				}
			}
		})
	}
}

// namesIn returns the sorted names in a listing.
func namesIn(t *testing.T, c *fetch.Client, url string) (names []string) {
	t.Helper()
	resp, err := c.Get(t.Context(), url)
	if err != nil {
		t.Fatalf("%s: %v", url, err)
	}
	for e, err := range resp.Entries() {
		if err != nil {
			t.Fatalf("%s: %v", url, err)
		}
		names = append(names, e.Name)
	}
	slices.Sort(names)
	return names
}
