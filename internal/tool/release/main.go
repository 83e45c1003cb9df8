// Command release builds the files of a release: archives with static binaries,
// packages for Debian and Red Hat, SBOMs, release notes and digests. Two runs
// from the same commit with the same version of Go write equal files.
//
// The version is the tag of the commit. Without a tag, it is the pseudo-version
// that "go build" derives from the commit.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

func main() {
	r := release{root: ".", log: func(text string) { fmt.Fprintln(os.Stderr, "release:", text) }}
	flag.StringVar(&r.out, "o", "dist", "write the files to `DIR`, which must not exist")
	platforms := flag.String("platforms", allPlatforms, "build for these `PLATFORMS`")
	flag.BoolVar(&r.dirty, "dirty", false, "accept uncommitted changes")
	flag.Parse()
	err := r.parsePlatforms(*platforms)
	if err == nil {
		err = r.run()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// allPlatforms lists the platforms of a release.
const allPlatforms = "linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64 freebsd/amd64 freebsd/arm64"

// A platform is an operating system and a processor, as in GOOS and GOARCH.
type platform struct{ system, processor string }

func (p platform) String() string { return p.system + "_" + p.processor }

// A release contains the settings and the state of a run.
type release struct {
	root      string // root folder of the module
	out       string // folder for the files of the release
	dirty     bool
	platforms []platform
	log       func(string)

	work    string // temporary folder below out
	version string // without the letter v, such as 0.1.0
	date    time.Time
}

func (r *release) parsePlatforms(list string) error {
	for _, name := range strings.Fields(list) {
		system, processor, ok := strings.Cut(name, "/")
		if !ok {
			return fmt.Errorf("the platform %q is not SYSTEM/PROCESSOR", name)
		}
		r.platforms = append(r.platforms, platform{system, processor})
	}
	return nil
}

// run builds all files in a temporary folder, and renames the folder when all
// files are complete.
func (r *release) run() (err error) {
	if _, err := os.Lstat(r.out); err == nil {
		return fmt.Errorf("%s exists; remove it first", r.out)
	}
	if r.out, err = filepath.Abs(r.out); err != nil {
		return err
	}
	final := r.out
	if r.out, err = os.MkdirTemp(filepath.Dir(final), filepath.Base(final)+".part-"); err != nil {
		return err
	}
	defer os.RemoveAll(r.out)
	r.work = filepath.Join(r.out, "work")
	for _, step := range []func() error{
		r.buildAll, r.document, r.archiveAll, r.packageAll, r.imageAll, r.manifestAll, r.describeAll,
		func() error { return os.RemoveAll(r.work) }, r.writeSums,
		func() error { return os.Chmod(r.out, 0o755) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return os.Rename(r.out, final)
}

// command runs a program in the root of the module and returns its standard
// output. The variables env are added to the environment.
func (r *release) command(env []string, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Stderr = r.root, os.Stderr
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w", strings.Join(cmd.Args, " "), err)
	}
	return string(out), nil
}

// host returns the platform of this machine.
func host() platform { return platform{runtime.GOOS, runtime.GOARCH} }
