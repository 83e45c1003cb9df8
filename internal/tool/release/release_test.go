package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"
)

// TestArchives checks that archives of equal files are equal, although the files
// have other times and modes, and that the archives contain the given ones.
func TestArchives(t *testing.T) {
	date := time.Date(2026, 11, 22, 19, 50, 12, 0, time.UTC)
	archives := func(mode os.FileMode, fileTime time.Time) (tarball, zipped []byte) {
		dir := t.TempDir()
		members := []member{{"top/fetch", filepath.Join(dir, "a"), 0o755}, {"top/doc/README.md", filepath.Join(dir, "b"), 0o644}}
		for _, m := range members {
			if err := os.WriteFile(m.source, []byte(m.name), mode); err != nil {
				t.Fatal(err)
			}
			if err := os.Chtimes(m.source, fileTime, fileTime); err != nil {
				t.Fatal(err)
			}
		}
		var tarFile, zipFile bytes.Buffer
		if err := writeTar(&tarFile, members, date); err != nil {
			t.Fatal(err)
		}
		if err := writeZip(&zipFile, members, date); err != nil {
			t.Fatal(err)
		}
		return tarFile.Bytes(), zipFile.Bytes()
	}
	tarball, zipped := archives(0o600, time.Unix(1, 0))
	tarball2, zipped2 := archives(0o666, time.Now())
	if !bytes.Equal(tarball, tarball2) || !bytes.Equal(zipped, zipped2) {
		t.Error("archives of equal files differ")
	}
	zr, err := gzip.NewReader(bytes.NewReader(tarball))
	if err != nil {
		t.Fatal(err)
	}
	tr := tar.NewReader(zr)
	h, err := tr.Next()
	if err != nil {
		t.Fatal(err)
	}
	if body, _ := io.ReadAll(tr); h.Name != "top/fetch" || h.Mode != 0o755 || !h.ModTime.Equal(date) || string(body) != h.Name {
		t.Errorf("tar: %+v %q", h, body)
	}
	z, err := zip.NewReader(bytes.NewReader(zipped), int64(len(zipped)))
	if err != nil {
		t.Fatal(err)
	}
	if f := z.File[0]; f.Name != "top/fetch" || f.Mode() != 0o755 || !f.Modified.Equal(date) {
		t.Errorf("zip: %+v", f.FileHeader)
	}
}

// TestChanges checks which section of the changelog describes a version.
func TestChanges(t *testing.T) {
	const changelog = "# Changelog\n\n## Unreleased\n* new\n\n## 0.2.0 - 2026-12-01\n* two\n### Fixed\n* bug\n\n## [v0.1.0]\n* one\n"
	for _, c := range []struct{ oddity, version, want string }{
		{"heading with a date, subheading", "0.2.0", "## 0.2.0 - 2026-12-01\n* two\n### Fixed\n* bug\n"},
		{"heading with brackets and v, last section", "0.1.0", "## [v0.1.0]\n* one\n"},
		{"commit without a tag", "0.2.1-0.20261122195012-6724ba38d4f2", "## Unreleased\n* new\n"},
		{"first commits", "0.0.0-20261122195012-6724ba38d4f2", "## Unreleased\n* new\n"},
		{"local changes", "0.2.0+dirty", "## Unreleased\n* new\n"},
		{"prefix of a version", "0.2", ""},
		{"missing version", "0.3.0", ""},
		{"prerelease without a section", "0.3.0-rc.1", "## Unreleased\n* new\n"},
	} {
		got, err := changes(changelog, c.version)
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s: got %q, %v, want %q", c.oddity, got, err, c.want)
		}
	}
}

// TestReadVersion checks which build information is accepted for a release.
func TestReadVersion(t *testing.T) {
	for _, c := range []struct {
		oddity, version, modified string
		dirty                     bool
		want                      string // part of the error
	}{
		{oddity: "tag", version: "v0.1.0", modified: "false"},
		{oddity: "local changes", version: "v0.1.0+dirty", modified: "true", want: "not committed"},
		{oddity: "accepted local changes", version: "v0.1.0+dirty", modified: "true", dirty: true},
		{oddity: "no repository", version: "(devel)", want: "no version"},
	} {
		r := &release{dirty: c.dirty}
		err := r.readVersion(&debug.BuildInfo{Main: debug.Module{Version: c.version}, Settings: []debug.BuildSetting{
			{Key: "vcs.modified", Value: c.modified}, {Key: "vcs.time", Value: "2026-11-22T20:50:12+01:00"},
		}})
		switch {
		case c.want != "":
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: error %v, want %q", c.oddity, err, c.want)
			}
		case err != nil, "v"+r.version != c.version, r.date.Format(time.RFC3339) != "2026-11-22T19:50:12Z":
			t.Errorf("%s: %v, %q, %s", c.oddity, err, r.version, r.date)
		}
	}
	r := &release{version: "0.1.0"}
	if err := r.readVersion(&debug.BuildInfo{Main: debug.Module{Version: "v0.2.0"}}); err == nil {
		t.Error("two versions are accepted")
	}
}
