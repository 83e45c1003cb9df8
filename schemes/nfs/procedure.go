package nfs

import (
	"fmt"
	"time"

	"github.com/anyurl/fetch/internal/wire/oncrpc"
)

// The procedures of NFS version 3 (RFC 1813) that the driver calls.
const (
	procGetattr     = 1
	procLookup      = 3
	procReadlink    = 5
	procRead        = 6
	procReaddir     = 16
	procReaddirplus = 17
	procFSInfo      = 19
)

// The types of files.
const (
	typeRegular   = 1
	typeDirectory = 2
	typeLink      = 5
)

// typeNames are the names of types of files that cannot be retrieved.
var typeNames = map[uint32]string{3: "block device", 4: "character device", typeLink: "symbolic link", 6: "socket", 7: "pipe"}

const (
	maxHandle = 64
	maxTarget = 4096 // bytes of the target of a symbolic link
)

// A handle identifies a file. The public file handle has no bytes.
type handle []byte

// attributes are the attributes of a file.
type attributes struct {
	kind   uint32
	size   uint64
	fileid uint64
	mtime  time.Time
	ctime  time.Time
}

// validator returns a string that changes with the content of the file.
func (a attributes) validator() string {
	return fmt.Sprintf("%x-%x-%x-%x", a.fileid, a.size, a.mtime.UnixNano(), a.ctime.UnixNano())
}

func decodeAttributes(d *oncrpc.Decoder) (a attributes) {
	a.kind = d.Uint32()
	d.Fixed(4 * 4) // mode, links, uid, gid
	a.size = d.Uint64()
	d.Fixed(8 + 8 + 8) // used, rdev, fsid
	a.fileid = d.Uint64()
	d.Fixed(8) // atime
	a.mtime = decodeTime(d)
	a.ctime = decodeTime(d)
	return a
}

func decodeTime(d *oncrpc.Decoder) time.Time {
	seconds, nanoseconds := d.Uint32(), d.Uint32()
	return time.Unix(int64(seconds), int64(nanoseconds%1e9)).UTC()
}

// decodeOptional decodes attributes that may be absent.
func decodeOptional(d *oncrpc.Decoder) (a attributes, ok bool) {
	if !d.Bool() {
		return a, false
	}
	return decodeAttributes(d), d.Err() == nil
}

// A node is a file with its attributes.
type node struct {
	handle
	attributes
}

// getattr returns the attributes of a file.
func (s *session) getattr(h handle) (a attributes, err error) {
	d, err := s.results(procGetattr, oncrpc.AppendOpaque(nil, []byte(h)))
	if err != nil {
		return a, err
	}
	a = decodeAttributes(d)
	return a, s.check(d)
}

// lookup returns the file with the given name in a directory. In the directory
// of the public file handle, the name can be a path.
func (s *session) lookup(dir handle, name string) (n node, err error) {
	d, err := s.results(procLookup, oncrpc.AppendOpaque(oncrpc.AppendOpaque(nil, []byte(dir)), name))
	if err != nil {
		return n, err
	}
	n.handle = append(handle{}, d.Opaque(maxHandle)...)
	a, ok := decodeOptional(d)
	if err := s.check(d); err != nil {
		return n, err
	}
	if n.attributes = a; !ok {
		n.attributes, err = s.getattr(n.handle)
	}
	return n, err
}

// readlink returns the target of a symbolic link.
func (s *session) readlink(h handle) (string, error) {
	d, err := s.results(procReadlink, oncrpc.AppendOpaque(nil, []byte(h)))
	if err != nil {
		return "", err
	}
	decodeOptional(d)
	target := string(d.Opaque(maxTarget))
	return target, s.check(d)
}

const (
	minTransfer     = 4 << 10
	maxTransfer     = 1 << 20
	defaultTransfer = 32 << 10
)

// transferSize returns the size of a READ: the largest size that the server
// supports, within limits.
func (s *session) transferSize(h handle) int {
	if s.transfer != 0 {
		return s.transfer
	}
	s.transfer = defaultTransfer
	d, err := s.results(procFSInfo, oncrpc.AppendOpaque(nil, []byte(h)))
	if err != nil {
		return s.transfer
	}
	decodeOptional(d)
	if largest := d.Uint32(); d.Err() == nil && largest > 0 {
		s.transfer = int(min(max(largest, minTransfer), maxTransfer))
	}
	return s.transfer
}
