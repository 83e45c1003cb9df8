package archive

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/anyurl/fetch/internal/base/regularfile"
	"github.com/anyurl/fetch/internal/base/tty"
	"github.com/anyurl/fetch/internal/format/render"
	"github.com/anyurl/fetch/mirror/internal/tree"
	"github.com/anyurl/fetch/uri"
)

// browseList is the name of the file that lists the links of the start page as
// lines of JSON. Copies of several archives in one directory thus share the page.
const browseList = "index.jsonl"

// maxBrowseList is the maximum size of this file in bytes.
const maxBrowseList = 64 << 20

// maxShownSeeds is the maximum number of seeds on the start page.
const maxShownSeeds = 10_000

// A start is a seed on the start page.
type start struct {
	Name string `json:"name"`
	Path string `json:"path"` // path of its copy, or "" if the archive has no copy
}

// writeIndex writes the start page index.html, which lists the seeds. Seeds of
// other archives whose copies are in the same directory precede them.
func (b *browser) writeIndex(seeds []string) error {
	var own []start
	for _, seed := range seeds[:min(len(seeds), maxShownSeeds)] {
		u, err := uri.Parse(seed)
		if err != nil {
			continue
		}
		s := start{Name: u.WithoutUserinfo().String()}
		if c, ok := b.captureOf(u); ok {
			s.Path = b.pagePath(&c, 1)
		}
		own = append(own, s)
	}
	all := append(b.otherStarts(own), own...)
	page := render.Start{Page: b.page("Archive", browseIndex)}
	page.Trail = nil
	for _, s := range all {
		link := render.Link{Name: tty.Escape(s.Name)}
		if s.Path != "" {
			link.Path = tree.Relative(browseIndex, s.Path)
		}
		page.Seeds = append(page.Seeds, link)
	}
	err := replaceFile(b.root, browseList, func(w io.Writer) error {
		for _, s := range all {
			if err := json.NewEncoder(w).Encode(s); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return replaceFile(b.root, browseIndex, page.Write)
}

// otherStarts returns the seeds of earlier copies that are not in own and whose
// copies still exist. It reads lines up to the first malformed one.
func (b *browser) otherStarts(own []start) (others []start) {
	f, err := regularfile.OpenFileIn(b.root, browseList, os.O_RDONLY, 0)
	if err != nil {
		return nil
	}
	defer f.Close()
	known := map[string]bool{}
	for _, s := range own {
		known[s.Name] = true
	}
	lines := json.NewDecoder(io.LimitReader(f, maxBrowseList))
	for range maxShownSeeds {
		var s start
		if err := lines.Decode(&s); err != nil {
			break
		}
		if !known[s.Name] && b.hasCopy(s.Path) {
			known[s.Name] = true
			others = append(others, s)
		}
	}
	return others[:min(len(others), maxShownSeeds-len(own))]
}

// hasCopy reports whether the target directory has a file at a path of the
// tree. The first segment of such a path is a scheme, without a colon.
func (b *browser) hasCopy(name string) bool {
	first, _, _ := strings.Cut(name, "/")
	if strings.Contains(first, ":") || !filepath.IsLocal(filepath.FromSlash(name)) {
		return false
	}
	info, err := b.root.Lstat(filepath.FromSlash(name))
	return err == nil && info.Mode().IsRegular()
}
