package servecmd_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/anyurl/fetch/cmd/fetch/internal/commandtest"
	"github.com/anyurl/fetch/internal/test/browsertest"
	"github.com/anyurl/fetch/internal/test/peer"
)

// TestPageCopies archives a page with its copies. Other software finds them under
// the URLs that browsertrix-crawler uses, and reads them.
func TestPageCopies(t *testing.T) {
	t.Parallel()
	peer.Need(t, "chromium", "chromium")
	peer.NeedRoot(t, "chromium in a network namespace")
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, `<!DOCTYPE html><title>page</title><body><script>
			document.body.style.background = 'rgb(1, 2, 3)'; document.body.append('made by ' + 'a script, é 中')</script>`)
	}))
	defer site.Close()
	dir, wacz := filepath.Join(t.TempDir(), "site"), filepath.Join(t.TempDir(), "site.wacz")
	page := site.URL + "/"
	commandtest.Run(t, 0, "mirror", "--browser", "--page", "--warc", "--no-tree", "--delay", "0", "--page-idle", "0.3",
		"--page-copies", "screenshot,pdf,text", "--output-dir", dir, page)
	commandtest.Run(t, 0, "verify", dir)
	commandtest.Run(t, 0, "pack", "--wacz", wacz, dir)
	commandtest.Run(t, 0, "verify", wacz)
	files, err := filepath.Glob(filepath.Join(dir, "warc", "*.warc.gz"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}

	t.Run("warcio", func(t *testing.T) {
		node, cli := peer.NeedModule(t, "warcio@2.4.11", "warcio", "dist/cli.js")
		out, err := exec.Command(node, cli, "cdx-index", files[0]).Output()
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.SplitAfter(string(out), "\n")
		slices.Sort(lines)
		if got, want := strings.Join(lines, ""), commandtest.Content(t, filepath.Join(dir, "index", "all.cdxj")); got != want {
			t.Errorf("index of warcio:\n%sindex of the archive:\n%s", got, want)
		}
		for _, name := range []string{"view", "pdf", "text"} {
			if n := strings.Count(string(out), `"url":"urn:`+name+`:`+page+`"`); n != 1 {
				t.Errorf("warcio finds %d copies %s: %s", n, name, out)
			}
		}
	})
	t.Run("gowarc", func(t *testing.T) {
		if out, err := exec.Command(peer.NeedGowarc(t), "verify", files[0]).CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
	})
	t.Run("ReplayWeb.page", func(t *testing.T) {
		r := browsertest.OpenWACZ(t, wacz, page)
		r.Wait("doc.title == 'page' && doc.body.innerText.includes('made by a script')")
		r.Show("urn:text:"+page, "doc.body.innerText.trim() == 'made by a script, é 中'")
		r.Show("urn:pdf:"+page, "(doc.querySelector('embed')?.type || doc.contentType) == 'application/pdf'")
		r.Show("urn:view:"+page, `(picture => {
			if (!picture || picture.naturalWidth != 1280) return false;
			const canvas = Object.assign(doc.createElement('canvas'), {width: 1280, height: 500}).getContext('2d');
			canvas.drawImage(picture, 0, 0);
			return canvas.getImageData(700, 400, 1, 1).data.join() == '1,2,3,255';
		})(doc.querySelector('img'))`)
	})
}
