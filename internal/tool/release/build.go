package main

import (
	"debug/buildinfo"
	"errors"
	"fmt"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

// buildAll builds the command for all platforms, one after the other. It reads
// the version and the date of the release from the build information.
func (r *release) buildAll() error {
	for i, p := range r.platforms {
		if err := r.build(p); err != nil {
			return err
		}
		info, err := buildinfo.ReadFile(r.binary(p))
		if err == nil {
			err = r.readVersion(info)
		}
		if err == nil && i == 0 {
			err = r.writeNotes() // fails early if CHANGELOG.md has no section for the version
		}
		if err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
		r.log("built " + r.version + " for " + p.String())
	}
	return nil
}

// build builds a static binary for a platform. It overrides the environment
// variables of this machine that would change the binary.
func (r *release) build(p platform) error {
	env := []string{
		"CGO_ENABLED=0", "GOOS=" + p.system, "GOARCH=" + p.processor, "GOAMD64=v1", "GOARM64=v8.0",
		"GOFLAGS=", "GOEXPERIMENT=", "GOWORK=off", "GOFIPS140=off",
	}
	_, err := r.command(env, "go", "build", "-p", "1", "-trimpath", "-buildvcs=true", "-ldflags=-s -w",
		"-o", r.binary(p), "./cmd/fetch")
	return err
}

// binary returns the path of the binary for a platform.
func (r *release) binary(p platform) string {
	name := "fetch"
	if p.system == "windows" {
		name += ".exe"
	}
	return filepath.Join(r.work, p.String(), name)
}

// readVersion sets the version and the date of r from the build information of
// a binary. All binaries must have the same version.
func (r *release) readVersion(info *debug.BuildInfo) error {
	setting := func(key string) string {
		i := slices.IndexFunc(info.Settings, func(s debug.BuildSetting) bool { return s.Key == key })
		if i < 0 {
			return ""
		}
		return info.Settings[i].Value
	}
	version, ok := strings.CutPrefix(info.Main.Version, "v")
	if !ok {
		return fmt.Errorf("the binary has no version: %q", info.Main.Version)
	}
	if setting("vcs.modified") != "false" && !r.dirty {
		return errors.New("the work tree has changes that are not committed")
	}
	if r.version != "" && r.version != version {
		return fmt.Errorf("the commit changed during the release: %s and %s", r.version, version)
	}
	date, err := time.Parse(time.RFC3339, setting("vcs.time"))
	if err != nil {
		return err
	}
	r.version, r.date = version, date.UTC()
	return nil
}
