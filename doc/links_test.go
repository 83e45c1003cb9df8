package doc_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestLinks checks that the links of all pages lead to existing files and
// headings.
func TestLinks(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)\s]*[.#][^)\s]*)\)`) // not a regular expression such as [.](png)
	heading := regexp.MustCompile(`(?m)^#+ (.*)$`)
	unusual := regexp.MustCompile(`[^a-z0-9 _-]`)
	pages, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, page := range append(pages, "../README.md", "../CONTRIBUTING.md", "../SECURITY.md", "../ARCHITECTURE.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			file, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(m[1], "://") {
				continue
			}
			found++
			target := page
			if file != "" {
				target = filepath.Join(filepath.Dir(page), filepath.FromSlash(file))
			}
			content, err := os.ReadFile(target)
			if info, failed := os.Stat(target); failed == nil && info.IsDir() {
				continue
			}
			if err != nil {
				t.Errorf("%s: %v", page, err)
				continue
			}
			known := anchor == ""
			for _, h := range heading.FindAllStringSubmatch(string(content), -1) {
				name := strings.ReplaceAll(unusual.ReplaceAllString(strings.ToLower(strings.TrimSpace(h[1])), ""), " ", "-")
				known = known || name == anchor
			}
			if !known {
				t.Errorf("%s: %s has no heading for #%s", page, target, anchor)
			}
		}
	}
	if found < 100 {
		t.Errorf("%d links", found)
	}
}
