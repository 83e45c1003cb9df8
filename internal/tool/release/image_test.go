package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/internal/test/peer"
)

// newRelease returns a release with a program that is no build of fetch.
func newRelease(t *testing.T, platforms string) *release {
	t.Helper()
	r := &release{out: t.TempDir(), version: "0.1.0", date: time.Date(2026, 11, 22, 19, 50, 12, 0, time.UTC)}
	r.work = filepath.Join(r.out, "work")
	if err := r.parsePlatforms(platforms); err != nil {
		t.Fatal(err)
	}
	for _, p := range r.platforms {
		if err := os.MkdirAll(filepath.Dir(r.binary(p)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(r.binary(p), []byte("program for "+p.String()), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(r.out, r.archiveName(p)), []byte("archive for "+p.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// TestImage writes an OCI image twice, and checks it with skopeo and umoci.
func TestImage(t *testing.T) {
	if _, err := os.Stat(certificates); err != nil {
		t.Skip("the package ca-certificates is not installed")
	}
	var images [][]byte
	var r *release
	for range 2 {
		r = newRelease(t, "linux/amd64 linux/arm64 windows/amd64")
		if err := r.imageAll(); err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(filepath.Join(r.out, "fetch_0.1.0_oci.tar"))
		if err != nil {
			t.Fatal(err)
		}
		images = append(images, content)
	}
	if !bytes.Equal(images[0], images[1]) {
		t.Error("two images of equal files differ")
	}
	layout := filepath.Join(t.TempDir(), "layout")
	run := func(name string, args ...string) string {
		t.Helper()
		c := exec.Command(name, args...)
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v: %s", c, err, out)
		}
		return string(out)
	}
	skopeo := peer.Need(t, "skopeo", "skopeo")
	source := "oci-archive:" + filepath.Join(r.out, "fetch_0.1.0_oci.tar") + ":0.1.0"
	for _, processor := range []string{"amd64", "arm64"} {
		var config struct {
			Architecture string
			Config       struct {
				User       string
				Entrypoint []string
			}
		}
		out := run(skopeo, "--override-arch", processor, "--override-os", "linux", "inspect", "--config", source)
		if err := json.Unmarshal([]byte(out), &config); err != nil || config.Architecture != processor || config.Config.User != "65532:65532" ||
			!slices.Equal(config.Config.Entrypoint, []string{"/usr/bin/fetch"}) {
			t.Errorf("%s: %v: %s", processor, err, out)
		}
	}
	run(skopeo, "--override-arch", "amd64", "--override-os", "linux", "copy", source, "oci:"+layout+":latest")
	umoci := peer.Need(t, "umoci", "umoci")
	bundle := filepath.Join(t.TempDir(), "bundle")
	run(umoci, "unpack", "--rootless", "--image", layout+":latest", bundle)
	root := filepath.Join(bundle, "rootfs")
	if text, err := os.ReadFile(filepath.Join(root, "usr/bin/fetch")); string(text) != "program for linux_amd64" {
		t.Errorf("program: %q, %v", text, err)
	}
	if info, err := os.Stat(filepath.Join(root, "usr/bin/fetch")); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("program: %v, %v", info, err)
	}
	if text, err := os.ReadFile(filepath.Join(root, certificates)); err != nil || !bytes.Contains(text, []byte("BEGIN CERTIFICATE")) {
		t.Errorf("certificates: %v", err)
	}
	for _, name := range []string{"bin/sh", "usr/bin/sh", "bin/busybox"} {
		if _, err := os.Lstat(filepath.Join(root, name)); err == nil {
			t.Errorf("the image has %s", name)
		}
	}
}

// TestManifests checks that the manifests contain the addresses and the digests
// of all archives of their systems.
func TestManifests(t *testing.T) {
	r := newRelease(t, allPlatforms)
	if err := r.manifestAll(); err != nil {
		t.Fatal(err)
	}
	for name, systems := range map[string]string{
		"fetch.rb": "darwin_amd64 darwin_arm64 linux_amd64 linux_arm64", "PKGBUILD": "linux_amd64 linux_arm64", "fetch.json": "windows_amd64 windows_arm64",
		"fetch.nix": "darwin_amd64 darwin_arm64 linux_amd64 linux_arm64",
	} {
		content, err := os.ReadFile(filepath.Join(r.out, name))
		if err != nil {
			t.Fatal(err)
		}
		text := string(content)
		for system := range strings.FieldsSeq(systems) {
			if sum := fmt.Sprintf("%x", sha256.Sum256([]byte("archive for "+system))); !strings.Contains(text, "/v0.1.0/fetch_0.1.0_"+system+".") ||
				!strings.Contains(text, sum) && name != "fetch.nix" {
				t.Errorf("%s lacks the archive for %s:\n%s", name, system, text)
			}
		}
	}
	if bash, err := exec.LookPath("bash"); err == nil {
		if out, err := exec.Command(bash, "-n", filepath.Join(r.out, "PKGBUILD")).CombinedOutput(); err != nil {
			t.Errorf("PKGBUILD: %v: %s", err, out)
		}
	}
	if ruby, err := exec.LookPath("ruby"); err == nil {
		if out, err := exec.Command(ruby, "-c", filepath.Join(r.out, "fetch.rb")).CombinedOutput(); err != nil {
			t.Errorf("fetch.rb: %v: %s", err, out)
		}
	}
	content, _ := os.ReadFile(filepath.Join(r.out, "fetch.json"))
	if !json.Valid(content) {
		t.Errorf("fetch.json: %s", content)
	}
	r = newRelease(t, "freebsd/amd64")
	if err := r.manifestAll(); err != nil {
		t.Error(err)
	}
	if names, _ := filepath.Glob(filepath.Join(r.out, "fetch.*")); len(names) > 0 {
		t.Errorf("manifests without archives: %q", names)
	}
}
