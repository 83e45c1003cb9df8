package mirror_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anyurl/fetch/internal/peer"
	"github.com/anyurl/fetch/mirror"
)

// TestBrowse checks that the pages of a browsable copy link to each other, and
// that the archive does not change.
func TestBrowse(t *testing.T) {
	t.Parallel()
	s := peer.Nginx(t, peer.NginxOptions{})
	page := `<a href="/sub/two.html#part">two</a><a href='http://elsewhere.example/'>out</a><img src="i.png"><link rel=stylesheet href=s.css>`
	s.Put("index.html", []byte(page))
	s.Put("sub/two.html", []byte(`<a href="../">up</a>`))
	s.Put("i.png", []byte("\x89PNG"))
	s.Put("s.css", []byte(`body { background: url("i.png") }`))
	o := options(t, "http://"+s.Addr+"/")
	run(t, o)
	to := t.TempDir()
	if err := mirror.Browse(t.Context(), o.Dir, to); err != nil {
		t.Fatal(err)
	}
	host := filepath.Join(to, "http", treeHost(s.Addr))
	for name, want := range map[string]string{
		"index.html":   strings.NewReplacer("/sub/two.html", "sub/two.html", "=s.css", `="s.css"`).Replace(page),
		"sub/two.html": `<a href="../index.html">up</a>`,
		"s.css":        `body { background: url("i.png") }`,
		"i.png":        "\x89PNG",
	} {
		got, err := os.ReadFile(filepath.Join(host, name))
		if err != nil || string(got) != want {
			t.Errorf("%s is %q, %v; want %q", name, got, err, want)
		}
	}
	if got := tree(t, o.Dir, "http/"+treeHost(s.Addr))["index.html"]; got != page {
		t.Errorf("the archive has %q", got)
	}
}
