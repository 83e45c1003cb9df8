//go:build linux && amd64

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/anyurl/fetch/internal/test/filecalls"
)

// A call is a system call that has begun.
type call struct {
	filecalls.Call
	pid      int
	fd       int  // file of a write, or -1
	isResult bool // the result is the file
}

// begin returns the call that a thread begins, or nil if the call changes and
// syncs no file below the roots.
func (t *tracer) begin(pid int, number uint64, a [6]uint64) *call {
	c := &call{pid: pid, fd: -1}
	switch number {
	case unix.SYS_OPEN:
		c.open("open", c.path(unix.AT_FDCWD, a[0]), a[1])
	case unix.SYS_CREAT:
		c.open("creat", c.path(unix.AT_FDCWD, a[0]), unix.O_CREAT|unix.O_TRUNC)
	case unix.SYS_OPENAT:
		c.open("openat", c.path(int(int32(a[0])), a[1]), a[2])
	case unix.SYS_WRITE, unix.SYS_WRITEV:
		c.write("write", a[0], position(pid, a[0]))
		if t.sends && strings.HasPrefix(c.Path, "socket:") {
			c.send(number, a[1], a[2])
			return c
		}
	case unix.SYS_PWRITE64, unix.SYS_PWRITEV, unix.SYS_PWRITEV2:
		c.write("pwrite", a[0], int64(a[3]))
	case unix.SYS_SENDFILE:
		c.write("sendfile", a[0], position(pid, a[0]))
	case unix.SYS_SPLICE, unix.SYS_COPY_FILE_RANGE:
		at := position(pid, a[2])
		if a[3] != 0 {
			at = int64(c.word(a[3]))
		}
		c.write("splice", a[2], at)
	case unix.SYS_FTRUNCATE:
		c.file(filecalls.Truncate, "ftruncate", a[0])
		c.Offset = int64(a[1])
	case unix.SYS_TRUNCATE:
		c.named(filecalls.Truncate, "truncate", c.path(unix.AT_FDCWD, a[0]))
		c.Offset = int64(a[1])
	case unix.SYS_FSYNC:
		c.file(filecalls.Sync, "fsync", a[0])
	case unix.SYS_FDATASYNC:
		c.file(filecalls.Sync, "fdatasync", a[0])
	case unix.SYS_SYNC:
		c.named(filecalls.SyncAll, "sync", t.roots[0])
	case unix.SYS_SYNCFS:
		c.file(filecalls.SyncAll, "syncfs", a[0])
	case unix.SYS_MKDIR:
		c.named(filecalls.Mkdir, "mkdir", c.path(unix.AT_FDCWD, a[0]))
	case unix.SYS_MKDIRAT:
		c.named(filecalls.Mkdir, "mkdirat", c.path(int(int32(a[0])), a[1]))
	case unix.SYS_UNLINK, unix.SYS_RMDIR:
		c.named(filecalls.Unlink, "unlink", c.path(unix.AT_FDCWD, a[0]))
	case unix.SYS_UNLINKAT:
		c.named(filecalls.Unlink, "unlinkat", c.path(int(int32(a[0])), a[1]))
	case unix.SYS_SYMLINKAT:
		c.named(filecalls.Symlink, "symlinkat", c.path(int(int32(a[1])), a[2]))
		c.To = c.text(a[0])
	case unix.SYS_RENAME:
		c.two(filecalls.Rename, "rename", c.path(unix.AT_FDCWD, a[0]), c.path(unix.AT_FDCWD, a[1]))
	case unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2:
		kind := filecalls.Rename
		if number == unix.SYS_RENAMEAT2 && a[4]&unix.RENAME_EXCHANGE != 0 {
			kind = filecalls.Exchange
		}
		c.two(kind, "renameat", c.path(int(int32(a[0])), a[1]), c.path(int(int32(a[2])), a[3]))
	case unix.SYS_LINK:
		c.two(filecalls.Link, "link", c.path(unix.AT_FDCWD, a[0]), c.path(unix.AT_FDCWD, a[1]))
	case unix.SYS_LINKAT:
		c.two(filecalls.Link, "linkat", c.path(int(int32(a[0])), a[1]), c.path(int(int32(a[2])), a[3]))
	default:
		return nil
	}
	if c.Kind == "" || !t.below(c.Path) && (c.To == "" || c.Kind == filecalls.Symlink || !t.below(c.To)) {
		return nil
	}
	return c
}

// below reports whether path is in one of the roots. The shared memory of
// SQLite is no file that a run needs later.
func (t *tracer) below(path string) bool {
	if strings.HasSuffix(path, "-shm") {
		return false
	}
	for _, r := range t.roots {
		if path == r || strings.HasPrefix(path, r+"/") {
			return true
		}
	}
	return false
}

// named makes c a call with a path.
func (c *call) named(kind filecalls.Kind, name, path string) {
	c.Kind, c.Name, c.Path = kind, name, path
}

// two makes c a call with two paths.
func (c *call) two(kind filecalls.Kind, name, from, to string) {
	c.named(kind, name, from)
	c.To = to
}

// file makes c a call with an open file or directory.
func (c *call) file(kind filecalls.Kind, name string, fd uint64) {
	path, err := os.Readlink(fdPath(c.pid, fd))
	if err != nil {
		return
	}
	c.named(kind, name, strings.TrimSuffix(path, " (deleted)"))
	c.fd = int(int32(fd))
}

// write makes c a call that writes to an open file.
func (c *call) write(name string, fd uint64, at int64) {
	c.file(filecalls.Write, name, fd)
	c.Offset = at
}

// send makes c a call that sends bytes to a socket.
func (c *call) send(number, address, size uint64) {
	if number == unix.SYS_WRITEV {
		address, size = c.word(address), c.word(address+8)
	}
	first, _, _ := strings.Cut(c.text(address), " ")
	word := strings.TrimFunc(first[:min(len(first), int(size), 4)], func(r rune) bool { return r < 'A' || r > 'Z' })
	c.Kind, c.Name, c.Path = filecalls.Send, "write", strings.TrimSpace("socket "+word)
}

// open makes c a call that creates or truncates a file.
func (c *call) open(name, path string, flags uint64) {
	var st unix.Stat_t
	absent := unix.Lstat(path, &st) != nil
	switch {
	case flags&unix.O_TMPFILE == unix.O_TMPFILE, flags&unix.O_CREAT != 0 && absent:
		c.named(filecalls.Create, name, path)
		c.isResult = true
	case flags&unix.O_TRUNC != 0 && !absent && st.Mode&unix.S_IFMT == unix.S_IFREG:
		c.named(filecalls.Truncate, name, path)
	}
	if flags&unix.O_TMPFILE == unix.O_TMPFILE {
		c.To = "" // the file has no name
		c.Name = "openat O_TMPFILE"
	}
}

// end completes a call that has the given result.
func (c *call) end(result int64) error {
	path := c.Path
	switch {
	case c.Kind == filecalls.Send:
		return nil
	case c.isResult:
		path = fdPath(c.pid, uint64(result))
	case c.fd >= 0:
		path = fdPath(c.pid, uint64(c.fd))
	case c.Kind == filecalls.Rename || c.Kind == filecalls.Link:
		path = c.To
	case c.Kind == filecalls.Unlink || c.Kind == filecalls.Exchange:
		return nil
	}
	var st unix.Stat_t
	stat := unix.Lstat
	if strings.HasPrefix(path, "/proc/") {
		stat = unix.Stat
	}
	if err := stat(path, &st); err != nil {
		return nil // another thread removed or closed it
	}
	c.Inode = st.Ino
	if c.Name == "openat O_TMPFILE" {
		c.Path = ""
	}
	if c.Kind != filecalls.Write {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil // another thread closed it
	}
	defer f.Close()
	c.Data = make([]byte, result)
	n, _ := f.ReadAt(c.Data, c.Offset)
	c.Data = c.Data[:n]
	return nil
}

func fdPath(pid int, fd uint64) string { return fmt.Sprintf("/proc/%d/fd/%d", pid, int(int32(fd))) }

// position returns the place of the next write to an open file.
func position(pid int, fd uint64) int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/fdinfo/%d", pid, int(int32(fd))))
	if err != nil {
		return 0
	}
	var at, flags int64
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		switch value = strings.TrimSpace(value); name {
		case "pos":
			at, _ = strconv.ParseInt(value, 10, 64)
		case "flags":
			flags, _ = strconv.ParseInt(value, 8, 64)
		}
	}
	if flags&unix.O_APPEND != 0 {
		if info, err := os.Stat(fdPath(pid, fd)); err == nil {
			at = info.Size()
		}
	}
	return at
}

// path returns the absolute path of an argument. The parents of the path are
// resolved by the kernel, so that a path through /proc/self is an open file.
func (c *call) path(dir int, address uint64) string {
	name := c.text(address)
	if strings.HasPrefix(name, "/proc/self/fd/") {
		fd, _ := strconv.ParseUint(strings.TrimPrefix(name, "/proc/self/fd/"), 10, 32)
		link, _ := os.Readlink(fdPath(c.pid, fd))
		return strings.TrimSuffix(link, " (deleted)")
	}
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	base := fmt.Sprintf("/proc/%d/cwd", c.pid)
	if dir != unix.AT_FDCWD {
		base = fdPath(c.pid, uint64(dir))
	}
	link, err := os.Readlink(base)
	if err != nil {
		return ""
	}
	return filepath.Join(link, name)
}

// text returns the string at an address of the command.
func (c *call) text(address uint64) string {
	f, err := os.Open(fmt.Sprintf("/proc/%d/mem", c.pid))
	if err != nil {
		return ""
	}
	defer f.Close()
	var text []byte
	for len(text) < unix.PathMax {
		page := make([]byte, 4096-address%4096) // the next page may be absent
		n, err := f.ReadAt(page, int64(address))
		if end := bytes.IndexByte(page[:n], 0); end >= 0 {
			return string(append(text, page[:end]...))
		}
		if err != nil {
			break
		}
		text, address = append(text, page...), address+uint64(len(page))
	}
	return ""
}

// word returns the integer at an address of the command.
func (c *call) word(address uint64) (word uint64) {
	f, err := os.Open(fmt.Sprintf("/proc/%d/mem", c.pid))
	if err != nil {
		return 0
	}
	defer f.Close()
	var b [8]byte
	if _, err := f.ReadAt(b[:], int64(address)); err != nil {
		return 0
	}
	for i := range b {
		word |= uint64(b[i]) << (8 * i)
	}
	return word
}
