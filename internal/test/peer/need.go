package peer

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// unpacked is the directory of the packages that "make peers" unpacks without
// installing them. Each package has a subdirectory. The daemons in these
// packages conflict with each other or need a super-server. The directory is
// not below a home directory, because servers that drop root privileges must be
// able to read it.
const unpacked = "/var/cache/fetch-peers"

// Need returns the path of a program from a Debian package. If the program is
// missing, Need skips the test and reports the name of the package. With
// CI=true in the environment, the test fails instead. With -short, Need always
// skips the test.
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

// NeedRoot skips a test that does not run as root. With CI=true in the
// environment, the test fails instead. Some servers need root privileges to
// change their account or to bind a low port.
func NeedRoot(t TB, server string) {
	t.Helper()
	skipShort(t, server)
	if os.Geteuid() != 0 {
		skip(t, "%s must be started as root", server)
	}
}

// needMount returns the path of the program unshare, which starts a server in
// its own mount namespace. If mounting is not permitted, the test is skipped.
func needMount(t TB, server string) string {
	t.Helper()
	unshare := Need(t, "unshare", "util-linux")
	if out, err := exec.Command(unshare, "--mount", "true").CombinedOutput(); err != nil {
		skip(t, "%s needs the right to mount: %v: %s", server, err, out)
	}
	return unshare
}

// packageRoot returns the directory that contains the files of a Debian
// package. The directory is below unpacked if the package was unpacked there.
// Otherwise it is "/", because the package is installed.
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
// reads the flag directly, because the benchmarks use this package outside of a
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
