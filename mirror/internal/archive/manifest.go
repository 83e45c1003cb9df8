package archive

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/anyurl/fetch/internal/base/regularfile"
	"github.com/anyurl/fetch/internal/format/linesort"
	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/mirror/internal/tree"
	"github.com/anyurl/fetch/warc"
)

const digestSize = sha256.Size

// isListed reports whether the manifest lists the file with the given name. The
// name is relative to the directory of the archive. The manifest lists all
// files except the database, the lock, temporary files and the manifest itself.
func isListed(name string) bool {
	return !strings.HasPrefix(name, database) && !strings.HasPrefix(name, manifest) &&
		name != lockFile && name != tree.Tmp && !strings.HasPrefix(name, tree.Tmp+"/")
}

// isImmutable reports whether the file with the given name never changes after
// it was written.
func isImmutable(name string) bool {
	return strings.HasPrefix(name, tree.Attic+"/") ||
		strings.HasPrefix(name, warcFolder+"/") && !strings.HasSuffix(name, warc.OpenSuffix)
}

// isDerived reports whether Reindex writes the file with the given name.
func isDerived(name string) bool { return name == manifest || strings.HasPrefix(name, indexFolder+"/") }

// writeManifest replaces the manifest and returns its digest. A file for which
// keep returns true keeps the digest of the previous manifest, so that the new
// manifest does not hide damage. The previous digests are ignored if the
// previous manifest is damaged.
func (a *Archive) writeManifest(ctx context.Context, keep func(name string) bool) ([]byte, error) {
	seal, err := a.frontier.ReadSeal(ctx)
	if err != nil {
		return nil, err
	}
	sum := sha256.New()
	err = replaceFile(a.folder.root, manifest, func(w io.Writer) error {
		w = io.MultiWriter(w, sum)
		if err := a.listTree(ctx, w); err != nil {
			return err
		}
		old, intact, err := a.openManifest(seal)
		if err != nil {
			return err
		}
		defer old.close()
		return listFiles(a.folder.root, false, func(name string) error {
			digest, listed := old.digest(name)
			var err error
			if !listed || !intact || !keep(name) {
				digest, err = digestFile(a.folder.root, name)
			}
			if err == nil {
				_, err = w.Write(appendDigest(nil, digest, name))
			}
			return err
		})
	})
	if err == nil {
		err = regularfile.SyncFolder(a.folder.root) // also the names of the journal and the reports
	}
	return sum.Sum(nil), err
}

// listTree writes the digests of the files in the tree, as stored in the
// database, in the format of sha256sum.
func (a *Archive) listTree(ctx context.Context, w io.Writer) error {
	var line []byte
	for f, err := range a.frontier.Files(ctx) {
		if err == nil && f.State == frontier.Gone {
			if _, lost := a.store.Stat(f.Path); lost != nil {
				continue // the file is in the attic
			}
		}
		if err == nil {
			line = appendDigest(line[:0], f.Digest, tree.Dir+"/"+f.Path)
			_, err = w.Write(line)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// listFiles calls f with the names of all regular files that the manifest
// lists, in the order of their escaped names. It skips the files of the tree
// unless withTree is true.
func listFiles(root *os.Root, withTree bool, f func(name string) error) error {
	var names linesort.Sorter
	defer names.Close()
	if err := collectFiles(root, ".", withTree, &names); err != nil {
		return err
	}
	for line, err := range names.Sorted() {
		if err == nil {
			err = f(nameUnescapes.Replace(string(bytes.TrimSuffix(line, []byte("\n")))))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// collectFiles adds the names of the files in a directory to names.
func collectFiles(root *os.Root, folder string, withTree bool, names *linesort.Sorter) error {
	dir, err := root.Open(folder)
	if err != nil {
		return err
	}
	defer dir.Close()
	for {
		entries, err := dir.ReadDir(1024)
		for _, d := range entries {
			name := strings.TrimPrefix(folder+"/"+d.Name(), "./")
			switch {
			case !isListed(name), name == tree.Dir && !withTree:
			case d.IsDir():
				err = errors.Join(err, collectFiles(root, name, withTree, names))
			case d.Type().IsRegular():
				err = errors.Join(err, names.Add([]byte(nameEscapes.Replace(name))))
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// digestFile returns the SHA-256 digest of a file.
func digestFile(root *os.Root, name string) (digest [digestSize]byte, err error) {
	f, err := regularfile.OpenIn(root, name)
	if err != nil {
		return digest, err
	}
	defer f.Close()
	_, digest, err = hashObject(f)
	return digest, err
}

// A manifestReader reads the lines of a manifest for files outside of the tree.
// They are in the order of listFiles.
type manifestReader struct {
	file  *os.File // nil if there is no manifest
	lines *bufio.Scanner
	line  manifestLine // next line
	more  bool         // whether line is valid
}

// A manifestLine is a line of a manifest.
type manifestLine struct {
	digest  [digestSize]byte
	escaped string // escaped name of the file
}

// openManifest opens the manifest of the archive. The result intact is true if
// the manifest has the digest in seal.
func (a *Archive) openManifest(seal frontier.Seal) (r *manifestReader, intact bool, err error) {
	r = &manifestReader{}
	digest, err := digestFile(a.folder.root, manifest)
	if err == nil {
		r.file, err = regularfile.OpenIn(a.folder.root, manifest)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return r, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	r.lines = bufio.NewScanner(r.file)
	r.lines.Buffer(nil, maxLineLength)
	r.advance()
	return r, bytes.Equal(digest[:], seal.Manifest), nil
}

// advance reads the next line for a file outside of the tree. It skips invalid
// lines.
func (r *manifestReader) advance() {
	for r.more = false; !r.more && r.lines.Scan(); { // a read error ends the lines
		digest, escaped, ok := parseDigest(r.lines.Text())
		r.more = ok && !strings.HasPrefix(escaped, tree.Dir+"/")
		r.line = manifestLine{digest, escaped}
	}
}

// digest returns the digest of a file according to the manifest. Successive
// calls must pass the names in the order of listFiles.
func (r *manifestReader) digest(name string) (digest [digestSize]byte, listed bool) {
	name = nameEscapes.Replace(name)
	for r.more && r.line.escaped < name {
		r.advance()
	}
	if r.more && r.line.escaped == name {
		return r.line.digest, true
	}
	return digest, false
}

func (r *manifestReader) close() { r.file.Close() } // a nil file has no effect

// Manifest computes the digests of all files in an archive except the database,
// the lock, temporary files and the manifest. It writes them in the format of
// sha256sum. It does not read the database.
func Manifest(w io.Writer, dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return Classify(err)
	}
	defer root.Close()
	out := bufio.NewWriter(w)
	err = listFiles(root, true, func(name string) error {
		digest, err := digestFile(root, name)
		if err == nil {
			_, err = out.Write(appendDigest(nil, digest, name))
		}
		return err
	})
	return Classify(errors.Join(err, out.Flush()))
}
