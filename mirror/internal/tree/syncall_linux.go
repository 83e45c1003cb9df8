package tree

import (
	"bytes"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// maxDirty is the maximum number of unwritten bytes in the system with which
// syncAll syncs a file system. A sync also waits for the bytes of other
// processes.
const maxDirty = 64 << 20

// canSyncAll reports whether syncfs(2) on the open directory returns the errors
// of failed writes. This requires Linux 5.8. The file system must be one that
// writes all its files in syncfs, which some network file systems do not.
func canSyncAll(dir *os.File) bool {
	var name unix.Utsname
	if unix.Uname(&name) != nil || !isLinux58(unix.ByteSliceToString(name.Release[:])) {
		return false
	}
	var st unix.Statfs_t
	if err := withDescriptor(dir, func(fd int) error { return unix.Fstatfs(fd, &st) }); err != nil {
		return false
	}
	switch st.Type {
	case unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.TMPFS_MAGIC:
		return true
	}
	return false
}

// isLinux58 reports whether a release such as "6.1.0-13-amd64" is at least 5.8.
func isLinux58(release string) bool {
	first, rest, _ := strings.Cut(release, ".")
	major, err := strconv.Atoi(first)
	minor := 0
	for _, c := range rest {
		if c < '0' || c > '9' || minor > 1000 {
			break
		}
		minor = 10*minor + int(c-'0')
	}
	return err == nil && (major > 5 || major == 5 && minor >= 8)
}

// syncAll syncs the file system of the open directory. It returns false if it
// did not, or if a write of any process has failed. The caller then syncs its
// files one by one, which returns the errors of these files.
func syncAll(dir *os.File) bool {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil || dirtyBytes(text) > maxDirty {
		return false
	}
	return withDescriptor(dir, unix.Syncfs) == nil
}

// dirtyBytes returns the number of bytes that the system has not written to
// disks, from the content of /proc/meminfo. If it is unknown, dirtyBytes
// returns a large number.
func dirtyBytes(meminfo []byte) int64 {
	_, after, found := bytes.Cut(meminfo, []byte("\nDirty:"))
	fields := bytes.Fields(after)
	if !found || len(fields) == 0 {
		return 1 << 62
	}
	kib, err := strconv.ParseInt(string(fields[0]), 10, 52)
	if err != nil {
		return 1 << 62
	}
	return kib << 10
}
