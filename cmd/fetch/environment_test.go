package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestEnvironmentPage checks that doc/environment.md has a row for each
// environment variable that the program reads, and no other row.
func TestEnvironmentPage(t *testing.T) {
	page, err := os.ReadFile("../../doc/environment.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| (`[^|]*) \\|").FindAllStringSubmatch(string(page), -1) {
		for _, name := range regexp.MustCompile("`([A-Za-z_0-9]+)`").FindAllStringSubmatch(row[1], -1) {
			documented[name[1]] = false
		}
	}
	direct := regexp.MustCompile(`os\.(?:Getenv|LookupEnv)\("([A-Za-z_0-9]+)"\)`)
	constant := regexp.MustCompile(`(?:Variable|Variables|variable)\b[^"\n]*"([A-Za-z_0-9]+)"|ReadEnvironment\("([A-Z_]+)"`)
	var source strings.Builder
	for _, dir := range []string{"..", "../../fetch", "../../schemes", "../../internal/base", "../../internal/wire", "../../internal/format", "../../mirror", "../../gateway", "../../netrc"} {
		err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || strings.Contains(name, "test/") {
				return err
			}
			text, err := os.ReadFile(name)
			source.Write(text)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, pattern := range []*regexp.Regexp{direct, constant} {
		for _, m := range pattern.FindAllStringSubmatch(source.String(), -1) {
			name := m[1] + strings.Join(m[2:], "")
			if _, ok := documented[name]; !ok {
				t.Errorf("doc/environment.md has no row for %s", name)
			}
		}
	}
	// The standard library reads GOMEMLIMIT and XDG variables, and other names are
	// made of parts.
	indirect := []string{"GOMEMLIMIT", "SCHEME_proxy", "wais_proxy", "ALL_PROXY", "NO_PROXY", "HTTPS_PROXY", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"}
	for name := range documented {
		if slices.Contains(indirect, name) {
			continue
		}
		if !strings.Contains(source.String(), `"`+name+`"`) && !strings.Contains(source.String(), "FETCH_"+strings.TrimPrefix(name, "FETCH_")) {
			t.Errorf("no part of the program reads %s", name)
		}
	}
}
