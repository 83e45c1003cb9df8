package main

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// fileSystem returns the type of the file system of a directory, such as "ext4".
func fileSystem(dir string) string {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return "an unknown file system"
	}
	switch s.Type {
	case unix.BTRFS_SUPER_MAGIC:
		return "btrfs"
	case unix.EXT4_SUPER_MAGIC:
		return "ext4"
	case unix.OVERLAYFS_SUPER_MAGIC:
		return "overlayfs"
	case unix.TMPFS_MAGIC:
		return "tmpfs"
	case unix.XFS_SUPER_MAGIC:
		return "xfs"
	}
	return fmt.Sprintf("file system %#x", s.Type)
}

// writeBack writes all data that the system keeps in memory for its disks.
func writeBack() { unix.Sync() }
