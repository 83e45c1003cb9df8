package peer

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// unpacked holds the packages that "make peers" unpacks instead of installing
// them, each in a directory of its own: daemons that conflict with one
// another or would bring a super-server with them. It is no home directory,
// because servers that give up root must be able to read it.
const unpacked = "/var/cache/fetch-peers"

// Need returns the path of a program from a Debian package, installed or
// unpacked. Where it is absent the test is skipped with the name of the
// package; with CI=true it fails. With -short the test is always skipped.
func Need(t TB, program, debianPackage string) string {
	t.Helper()
	skipShort(t, program)
	if path, err := exec.LookPath(program); err == nil {
		return path
	}
	root := filepath.Join(unpacked, debianPackage)
	for _, dir := range []string{"/usr/sbin", "/sbin", root + "/usr/sbin", root + "/usr/bin"} {
		if path, err := exec.LookPath(filepath.Join(dir, program)); err == nil {
			return path
		}
	}
	skip(t, "%s is absent: install the Debian package %s (make peers)", program, debianPackage)
	return ""
}

// NeedRoot skips a test whose server must change its account or bind a low
// port, where the test does not run as root; with CI=true it fails.
func NeedRoot(t TB, server string) {
	t.Helper()
	skipShort(t, server)
	if os.Geteuid() != 0 {
		skip(t, "%s must be started as root", server)
	}
}

// needMount returns the path of unshare, for servers that must not see the
// files of the system but their own in their place.
func needMount(t TB, server string) string {
	t.Helper()
	unshare := Need(t, "unshare", "util-linux")
	if out, err := exec.Command(unshare, "--mount", "true").CombinedOutput(); err != nil {
		skip(t, "%s needs the right to mount: %v: %s", server, err, out)
	}
	return unshare
}

// packageRoot returns what stands for "/" before a file of a Debian package:
// the directory where it is unpacked or, once installed, "/" itself.
func packageRoot(t TB, debianPackage, file string) string {
	t.Helper()
	skipShort(t, debianPackage)
	for _, root := range []string{filepath.Join(unpacked, debianPackage), "/"} {
		if _, err := os.Stat(filepath.Join(root, file)); err == nil {
			return root
		}
	}
	skip(t, "%s is absent: install the Debian package %s (make peers)", file, debianPackage)
	return ""
}

// needLibrary returns the path of a shared library from a Debian package.
func needLibrary(t TB, file, debianPackage string) string {
	t.Helper()
	found, _ := filepath.Glob("/usr/lib/*-linux-*/" + file)
	if len(found) == 0 {
		skip(t, "%s is absent: install the Debian package %s (make peers)", file, debianPackage)
	}
	return found[0]
}

// skipShort skips a test that starts a server if the tests run with -short. It
// reads the flag itself because the benchmarks use this package outside of a
// test, where testing.Short panics.
func skipShort(t TB, server string) {
	t.Helper()
	if f := flag.Lookup("test.short"); f != nil && f.Value.String() == "true" {
		t.Skipf("%s is not started with -short", server)
	}
}

func skip(t TB, format string, args ...any) {
	t.Helper()
	if os.Getenv("CI") == "true" && runtime.GOOS == "linux" {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}
