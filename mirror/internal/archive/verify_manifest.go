package archive

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/anyurl/fetch/internal/base/regularfile"
	"github.com/anyurl/fetch/warc"
)

const (
	mismatch        = "the content does not match the digest in "
	missingManifest = "missing, so the files outside of tree/ and warc/ cannot be verified"
)

// checkManifest compares all files outside of the tree with the manifest, and
// the manifest with its digest in the database. While a run has not ended, it
// verifies only files that no run changes.
func (v *verifier) checkManifest(ctx context.Context) error {
	stats, err := v.a.frontier.Stats(ctx)
	if err != nil {
		return err
	}
	seal, err := v.a.frontier.ReadSeal(ctx)
	if err != nil {
		return err
	}
	r, intact, err := v.a.openManifest(seal)
	if err != nil {
		return v.add(Finding{Path: manifest, Text: err.Error(), Derived: true})
	}
	defer r.close()
	var f Finding
	switch {
	case intact && seal.Rows:
		return v.compareFiles(r, true)
	case seal.Rows && r.file == nil:
		f = Finding{Path: manifest, Text: missingManifest, Derived: true}
	case seal.Rows:
		f = Finding{Path: manifest, Text: mismatch + "the database", Derived: true}
	default:
		f = Finding{Path: database, Note: true, Text: "there is no digest of the rows: the last run did not end, or an older version wrote the database"}
	}
	if err := v.add(f); err != nil {
		return err
	}
	if intact {
		return v.compareFiles(r, false)
	}
	if !stats.Ended.IsZero() {
		return v.checkIndex()
	}
	return nil
}

// compareFiles compares all files outside of the tree with the lines of the
// manifest. If ended is false, a run has changed files since the manifest was
// written.
func (v *verifier) compareFiles(r *manifestReader, ended bool) error {
	err := listFiles(v.a.folder.root, false, func(name string) error {
		escaped := nameEscapes.Replace(name)
		if err := v.addMissing(r, ended, escaped); err != nil {
			return err
		}
		if !r.more || r.line.escaped != escaped {
			if !ended {
				return nil
			}
			return v.add(Finding{Path: name, Text: "the file is not in the manifest", Note: true})
		}
		want := r.line.digest
		if r.advance(); !ended && !isImmutable(name) {
			return nil
		}
		switch got, err := v.digestOf(name); {
		case err != nil:
			return v.add(Finding{Path: name, Text: err.Error(), Derived: isDerived(name)})
		case got != want:
			// The next run truncates an unfinished WARC file.
			open := strings.HasSuffix(name, warc.OpenSuffix)
			return v.add(Finding{Path: name, Text: mismatch + "the manifest", Derived: isDerived(name), Note: open})
		}
		return nil
	})
	if err == nil {
		err = v.addMissing(r, ended, "\xff")
	}
	return err
}

// digestOf returns the digest of a file. WARC files have already been read.
func (v *verifier) digestOf(name string) ([32]byte, error) {
	if digest, ok := v.digests[name]; ok {
		return digest, nil
	}
	return digestFile(v.a.folder.root, name)
}

// addMissing reports the missing files: those that the manifest lists between
// the current line and the given escaped name. Missing WARC files have been
// reported by checkRecords.
func (v *verifier) addMissing(r *manifestReader, ended bool, before string) error {
	for ; r.more && r.line.escaped < before; r.advance() {
		name := nameUnescapes.Replace(r.line.escaped)
		if strings.HasPrefix(name, warcFolder+"/") || !ended && !isImmutable(name) {
			continue
		}
		f := Finding{Path: name, Text: missing, Derived: isDerived(name), Note: inMaildir(name)}
		if err := v.add(f); err != nil {
			return err
		}
	}
	return nil
}

// inMaildir reports whether name is a message in a Maildir. Mail readers rename
// and delete such files.
func inMaildir(name string) bool {
	folder := filepath.Base(filepath.Dir(filepath.FromSlash(name)))
	return strings.HasPrefix(name, mailFolder+"/") && (folder == "new" || folder == "cur")
}

// checkIndex compares the index with a newly generated index. It is necessary
// only if there is no manifest to verify the index.
func (v *verifier) checkIndex() error {
	names, _, err := warcFiles(v.a.folder.root, "*.warc.gz")
	if err != nil || len(names) == 0 {
		return err
	}
	for i, name := range names {
		names[i] = filepath.Join(v.a.folder.dir, filepath.FromSlash(name))
	}
	f, err := regularfile.OpenIn(v.a.folder.root, indexFile)
	if errors.Is(err, fs.ErrNotExist) {
		return v.add(Finding{Path: indexFile, Text: missing, Derived: true})
	}
	if err != nil {
		return err
	}
	defer f.Close()
	_, got, err := hashObject(f)
	if err != nil {
		return err
	}
	want := sha256.New()
	if err := indexReadable(want, names...); err != nil {
		return err
	}
	if bytes.Equal(got[:], want.Sum(nil)) {
		return nil
	}
	return v.add(Finding{Path: indexFile, Text: "the file does not match the WARC files", Derived: true})
}
