package console

import (
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
)

// TestVersionOf checks the version that --version prints for the build
// information of several builds.
func TestVersionOf(t *testing.T) {
	const commit = "6724ba38d4f258418457c0f74c6bec0273b39631"
	vcs := func(modified string) []debug.BuildSetting {
		return []debug.BuildSetting{{Key: "vcs", Value: "git"}, {Key: "vcs.revision", Value: commit},
			{Key: "vcs.time", Value: "2026-11-22T19:50:12Z"}, {Key: "vcs.modified", Value: modified}}
	}
	for _, c := range []struct {
		oddity   string
		version  string
		settings []debug.BuildSetting
		want     string // first lines of the output
	}{
		{"go install of a tag has no commit", "v0.1.0", nil, "fetch 0.1.0 PLATFORM\nSchemes:"},
		{"release", "v0.1.0", vcs("false"), "fetch 0.1.0 PLATFORM\nCommit: " + commit + " 2026-11-22\nSchemes:"},
		{"go build with local changes", "v0.0.0-20261122195012-6724ba38d4f2+dirty", vcs("true"),
			"fetch 0.0.0-20261122195012-6724ba38d4f2+dirty PLATFORM\nCommit: " + commit + " 2026-11-22 (with uncommitted changes)\nSchemes:"},
		{"go build -buildvcs=false", "(devel)", nil, "fetch dev PLATFORM\nSchemes:"},
		{"no build information", "", nil, "fetch dev PLATFORM\nSchemes:"},
	} {
		got := VersionText(versionOf(&debug.BuildInfo{Main: debug.Module{Version: c.version}, Settings: c.settings}))
		platform := "(" + runtime.GOOS + "/" + runtime.GOARCH + ") " + runtime.Version()
		if want := strings.Replace(c.want, "PLATFORM", platform, 1); !strings.HasPrefix(got, want) {
			t.Errorf("%s: got\n%s\nwant\n%s", c.oddity, got, want)
		}
	}
}
