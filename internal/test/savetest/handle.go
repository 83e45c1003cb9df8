package savetest

import (
	"io/fs"

	"github.com/anyurl/fetch/save"
)

// handle is an open file of an FS.
type handle struct {
	save.Handle
	fs   *FS
	name string
}

func (h *handle) Read(p []byte) (n int, err error) {
	err = h.fs.do("read", h.name, func() error { n, err = h.Handle.Read(p); return err })
	return n, err
}

func (h *handle) Write(p []byte) (n int, err error) {
	if err = h.fs.do("write", h.name, func() error { n, err = h.Handle.Write(p); return err }); err != nil {
		if fault := h.fs.Fault; fault.Half && n == 0 {
			n, _ = h.Handle.Write(p[:len(p)/2])
		}
	}
	return n, err
}

func (h *handle) Seek(offset int64, whence int) (n int64, err error) {
	err = h.fs.do("seek", h.name, func() error { n, err = h.Handle.Seek(offset, whence); return err })
	return n, err
}

func (h *handle) Stat() (info save.Info, err error) {
	err = h.fs.do("stat", h.name, func() error { info, err = h.Handle.Stat(); return err })
	return info, err
}

func (h *handle) Chmod(mode fs.FileMode) error {
	return h.fs.do("chmod", h.name, func() error { return h.Handle.Chmod(mode) })
}

func (h *handle) Truncate(size int64) error {
	return h.fs.do("truncate", h.name, func() error { return h.Handle.Truncate(size) })
}

// Sync does not write to the disk, because no test simulates a power failure.
func (h *handle) Sync() error { return h.fs.do("sync", h.name, func() error { return nil }) }

func (h *handle) Lock() error { return h.fs.do("lock", h.name, h.Handle.Lock) }

// Close closes the file even if it returns an error, as the kernel does.
func (h *handle) Close() error {
	h.fs.mu.Lock()
	open := h.fs.open[h]
	delete(h.fs.open, h)
	h.fs.mu.Unlock()
	var closeErr error
	if open {
		closeErr = h.Handle.Close()
	}
	return h.fs.do("close", h.name, func() error { return closeErr })
}
