package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"io"
	"os"
	"path"
	"path/filepath"
	"time"
)

// A member is a file of an archive.
type member struct {
	name   string // path in the archive, with slashes
	source string // path of the file to copy
	mode   os.FileMode
}

// archiveAll writes an archive for each platform: zip for Windows, tar.gz for
// the other systems.
func (r *release) archiveAll() error {
	documents, err := r.documents()
	if err != nil {
		return err
	}
	for _, p := range r.platforms {
		top := "fetch_" + r.version + "_" + p.String()
		members := []member{{path.Join(top, filepath.Base(r.binary(p))), r.binary(p), 0o755}}
		for _, m := range documents {
			m.name = path.Join(top, m.name)
			members = append(members, m)
		}
		write := writeTar
		if p.system == "windows" {
			write = writeZip
		}
		if err := create(filepath.Join(r.out, r.archiveName(p)), func(w io.Writer) error { return write(w, members, r.date) }); err != nil {
			return err
		}
	}
	return nil
}

// create creates a file, calls write to fill it, and syncs it.
func create(name string, write func(io.Writer) error) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := write(f); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	return f.Close()
}

// writeTar writes a tar archive with gzip compression. Its headers do not
// depend on this machine: the owner is root, and all times are date.
func writeTar(w io.Writer, members []member, date time.Time) error {
	zw, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	tw := tar.NewWriter(zw)
	for _, m := range members {
		err := copyMember(m, func(size int64) (io.Writer, error) {
			return tw, tw.WriteHeader(&tar.Header{
				Typeflag: tar.TypeReg, Name: m.name, Size: size, Mode: int64(m.mode), ModTime: date,
				Uname: "root", Gname: "root", Format: tar.FormatUSTAR,
			})
		})
		if err != nil {
			return err
		}
	}
	if err := tw.Close(); err != nil {
		return err
	}
	return zw.Close()
}

// writeZip writes a zip archive. All times are date.
func writeZip(w io.Writer, members []member, date time.Time) error {
	zw := zip.NewWriter(w)
	for _, m := range members {
		err := copyMember(m, func(int64) (io.Writer, error) {
			header := &zip.FileHeader{Name: m.name, Method: zip.Deflate, Modified: date}
			header.SetMode(m.mode)
			return zw.CreateHeader(header)
		})
		if err != nil {
			return err
		}
	}
	return zw.Close()
}

// copyMember copies the source file of m. It passes the size of the file to
// open, which returns the writer for the copy.
func copyMember(m member, open func(size int64) (io.Writer, error)) error {
	f, err := os.Open(m.source)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	w, err := open(info.Size())
	if err != nil {
		return err
	}
	_, err = io.Copy(w, f)
	return err
}

// writeGzip writes a compressed copy of the file source. The header of the copy
// contains neither a name nor a time.
func writeGzip(name, source string) error {
	return create(name, func(w io.Writer) error {
		zw, err := gzip.NewWriterLevel(w, gzip.BestCompression)
		if err != nil {
			return err
		}
		if err := copyMember(member{source: source}, func(int64) (io.Writer, error) { return zw, nil }); err != nil {
			return err
		}
		return zw.Close()
	})
}
