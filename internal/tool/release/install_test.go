//go:build release

package main

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anyurl/fetch/internal/test/peer"
)

// TestRelease builds a release in two clones of this repository, in which the
// commit has the tag v0.1.0. It checks that the files are equal. It installs the
// packages into empty roots, uses the program, and removes the packages.
func TestRelease(t *testing.T) {
	first, second := t.TempDir(), t.TempDir()
	sums := buildTagged(t, filepath.Join(first, "clone"))
	if other := buildTagged(t, filepath.Join(second, "a-second-clone")); other != sums {
		t.Fatalf("two releases differ:\n%s\n%s", sums, other)
	}
	dist := filepath.Join(first, "clone", "dist")
	sh(t, dist, "sha256sum", "-c", "SHA256SUMS")
	for _, name := range []string{"fetch_0.1.0_linux_amd64.tar.gz", "fetch_0.1.0_linux_amd64.cdx.json", "fetch_0.1.0-1_amd64.deb",
		"fetch-0.1.0-1.x86_64.rpm", "RELEASE-NOTES.md", "fetch_0.1.0_oci.tar", "fetch.rb", "fetch.nix", "PKGBUILD"} {
		if !strings.Contains(sums, "  "+name+"\n") {
			t.Errorf("the release has no %s:\n%s", name, sums)
		}
	}
	deb := filepath.Join(dist, "fetch_0.1.0-1_amd64.deb")
	t.Run("Install", func(t *testing.T) { install(t, deb) })
	t.Run("InstallRPM", func(t *testing.T) { installRPM(t, filepath.Join(dist, "fetch-0.1.0-1.x86_64.rpm")) })
	t.Run("Image", func(t *testing.T) { runImage(t, filepath.Join(dist, "fetch_0.1.0_oci.tar")) })
	t.Run("GoInstall", func(t *testing.T) { goInstall(t, filepath.Join(first, "clone")) })
	t.Run("Lintian", func(t *testing.T) {
		if out := sh(t, dist, peer.Need(t, "lintian", "lintian"), "--fail-on", "error,warning", "--allow-root", deb); strings.TrimSpace(out) != "" {
			t.Error(out)
		}
	})
}

// runImage unpacks an OCI image and runs its program in its root, with its user.
func runImage(t *testing.T, file string) {
	skopeo, umoci := peer.Need(t, "skopeo", "skopeo"), peer.Need(t, "umoci", "umoci")
	layout, bundle := filepath.Join(t.TempDir(), "layout"), filepath.Join(t.TempDir(), "bundle")
	sh(t, ".", skopeo, "copy", "oci-archive:"+file+":0.1.0", "oci:"+layout+":latest")
	sh(t, ".", umoci, "unpack", "--rootless", "--image", layout+":latest", bundle)
	if os.Geteuid() != 0 {
		t.Skip("chroot requires root")
	}
	root := filepath.Join(bundle, "rootfs")
	for _, dir := range []string{filepath.Dir(filepath.Dir(bundle)), filepath.Dir(bundle), bundle} {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if out := sh(t, ".", "chroot", "--userspec=65532:65532", root, "/usr/bin/fetch", "data:,hello"); out != "hello" {
		t.Errorf("the program of the image printed %q", out)
	}
}

// buildTagged clones the repository to dir, tags the commit and builds a release
// for Linux on amd64. It returns the digests of the files.
func buildTagged(t *testing.T, dir string) string {
	t.Helper()
	sh(t, "../../..", "git", "clone", "--quiet", "--no-hardlinks", ".", dir)
	name := filepath.Join(dir, "CHANGELOG.md")
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(strings.Replace(string(text), "## Unreleased", "## 0.1.0", 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	sh(t, dir, "git", "-c", "user.name=test", "-c", "user.email=test@example.org", "commit", "--quiet", "--all",
		"--date", "2026-12-01T00:00:00Z", "--message", "version 0.1.0")
	sh(t, dir, "git", "tag", "v0.1.0")
	sh(t, dir, "go", "run", "-modfile=tools.mod", "-tags=release", "./internal/tool/release", "-platforms", "linux/amd64")
	sums, err := os.ReadFile(filepath.Join(dir, "dist", "SHA256SUMS"))
	if err != nil {
		t.Fatal(err)
	}
	return string(sums)
}

// install installs a package into an empty root, runs the program there, and
// removes the package.
func install(t *testing.T, deb string) {
	peer.NeedRoot(t, "dpkg --root")
	root := t.TempDir()
	database := filepath.Join(root, "var/lib/dpkg")
	for _, dir := range []string{"info", "updates", "triggers"} {
		if err := os.MkdirAll(filepath.Join(database, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(database, "status"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	dpkg := peer.Need(t, "dpkg", "dpkg")
	sh(t, root, dpkg, "--root="+root, "--force-script-chrootless", "--install", deb)
	use(t, root)
	for _, name := range []string{"bash-completion/completions/fetch", "doc/fetch/copyright", "doc/fetch/changelog.gz",
		"doc/fetch/examples/fetch-mirror@.timer", "doc/fetch/THIRD-PARTY-NOTICES.gz"} {
		if _, err := os.Stat(filepath.Join(root, "usr/share", name)); err != nil {
			t.Error(err)
		}
	}
	sh(t, root, dpkg, "--root="+root, "--purge", "fetch")
	filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && name == database {
			return fs.SkipDir
		}
		if err != nil || !d.IsDir() && !strings.HasPrefix(name, filepath.Join(root, "var/log")) {
			t.Errorf("after the removal: %s %v", name, err)
		}
		return nil
	})
}

// installRPM is like install, for a package of Red Hat.
func installRPM(t *testing.T, file string) {
	peer.NeedRoot(t, "rpm --root")
	rpm, root := peer.Need(t, "rpm", "rpm"), t.TempDir()
	sh(t, root, rpm, "--root="+root, "--initdb")
	sh(t, root, rpm, "--root="+root, "--install", file)
	use(t, root)
	if got := sh(t, root, rpm, "--root="+root, "-q", "fetch"); got != "fetch-0.1.0-1.x86_64\n" {
		t.Errorf("rpm -q: %q", got)
	}
	sh(t, root, rpm, "--root="+root, "--erase", "fetch")
	if _, err := os.Lstat(filepath.Join(root, "usr/bin/fetch")); err == nil {
		t.Error("the program is not removed")
	}
}

// goInstall installs the version v0.1.0 with "go install MODULE@VERSION" from a
// module proxy that is a folder. The module is the clone.
func goInstall(t *testing.T, clone string) {
	const module, version = "github.com/anyurl/fetch", "v0.1.0"
	proxy := filepath.Join(t.TempDir(), module, "@v")
	if err := os.MkdirAll(proxy, 0o755); err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile(filepath.Join(clone, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		version + ".mod": string(mod), version + ".info": `{"Version":"` + version + `"}`, "list": version + "\n",
	} {
		if err := os.WriteFile(filepath.Join(proxy, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	sh(t, clone, "git", "archive", "--prefix="+module+"@"+version+"/", "-o", filepath.Join(proxy, version+".zip"), "HEAD")
	// The modules that the release has downloaded are another proxy. The new
	// module cache and the proxies are removed after the test.
	downloaded := filepath.Join(strings.TrimSpace(sh(t, clone, "go", "env", "GOMODCACHE")), "cache", "download")
	for key, value := range map[string]string{
		"GOPROXY": "file://" + strings.TrimSuffix(proxy, "/"+module+"/@v") + ",file://" + downloaded, "GOSUMDB": "off",
		"GOMODCACHE": t.TempDir(), "GOBIN": t.TempDir(), "GOFLAGS": "-modcacherw -trimpath", "CGO_ENABLED": "0",
	} {
		t.Setenv(key, value)
	}
	sh(t, t.TempDir(), "go", "install", module+"/cmd/fetch@"+version)
	if got := sh(t, clone, filepath.Join(os.Getenv("GOBIN"), "fetch"), "-V"); !strings.HasPrefix(got, "fetch 0.1.0 (") {
		t.Errorf("the version is %q", got)
	}
}

// use runs the program that is installed in root.
func use(t *testing.T, root string) {
	t.Helper()
	if got := sh(t, root, "chroot", root, "/usr/bin/fetch", "--version"); !strings.HasPrefix(got, "fetch 0.1.0 (linux/amd64) ") {
		t.Errorf("the version is %q", got)
	}
	const page = "/usr/share/doc/fetch/README.md"
	want, err := os.ReadFile(filepath.Join(root, page))
	if err != nil {
		t.Fatal(err)
	}
	if got := sh(t, root, "chroot", root, "/usr/bin/fetch", "file://"+page); got != string(want) {
		t.Errorf("fetch file://%s: %q", page, got)
	}
	pages, err := filepath.Glob(filepath.Join(root, "usr/share/man/man1/fetch*.1.gz"))
	if err != nil || len(pages) < 10 {
		t.Errorf("%d manual pages, %v", len(pages), err)
	}
}

// sh runs a program in a folder and returns its output. The test fails if the
// program does.
func sh(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_COMMITTER_DATE=2026-12-01T00:00:00Z")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(cmd.Args, " "), err, out)
	}
	return string(out)
}
