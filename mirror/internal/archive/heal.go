package archive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/regularfile"
	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/mirror/internal/tree"
	"github.com/anyurl/fetch/warc"
)

// HealOptions contains the settings of Heal.
type HealOptions struct {
	Now     func() time.Time // clock; required
	MaxLost float64          // maximum share of missing WARC records

	// If RequeueOnly is true, Heal does not replace damaged files outside of the
	// tree. It only makes the URLs of damaged records pending.
	RequeueOnly bool

	// Report is called for each repair, and for each file that could not be
	// repaired.
	Report func(path, text string, repaired bool)
}

// Heal repairs the archive in the directory dir without network access. It
// copies the intact records of a damaged WARC file to a new file. It restores
// damaged files of the tree from WARC records, and makes the URLs of lost
// objects pending. It moves damaged files to the attic. It then writes the
// index and the manifest. Heal returns the number of URLs that it made pending.
//
// If the process is killed, the next Open or Heal completes the current step. If
// the database is damaged, Heal changes nothing.
func Heal(ctx context.Context, dir string, o HealOptions) (requeued int64, err error) {
	h := &healer{ctx: ctx, o: o, damaged: map[string]string{}}
	listsFiles := false // reports whether the database lists files of the tree, which may be missing completely
	err = withLock(ctx, dir, func(a *Archive) (err error) {
		if h.seal, err = a.frontier.ReadSeal(ctx); err == nil { // Open checks the database
			listsFiles, err = a.listsFiles(ctx)
		}
		return err
	})
	if err != nil {
		return 0, err
	}
	hasRecords, hasTree, err := Forms(dir)
	if err != nil {
		return 0, err
	}
	options := Options{Tree: hasTree || listsFiles, MaxLost: o.MaxLost, Recheck: true, Now: o.Now}
	if hasRecords {
		options.WARC = &warc.Options{Now: o.Now}
	}
	if h.a, _, err = Open(ctx, dir, options); err != nil {
		return 0, err
	}
	err = h.heal()
	return h.requeued, errors.Join(Classify(err), h.a.Close())
}

// listsFiles reports whether the database contains the path of a file in the
// tree.
func (a *Archive) listsFiles(ctx context.Context) (bool, error) {
	err := a.eachRetrieved(ctx, func(it frontier.Item, _ frontier.State) error {
		if it.LastCapture.Path != "" {
			return errStop
		}
		return nil
	})
	if errors.Is(err, errStop) {
		return true, nil
	}
	return false, err
}

// A healer is the state of one call of Heal.
type healer struct {
	ctx      context.Context
	a        *Archive
	o        HealOptions
	seal     frontier.Seal     // seal of the database before the first change
	damaged  map[string]string // descriptions of the damage, by path, of files that do not match the manifest
	requeued int64
}

func (h *healer) heal() error {
	if h.a.records != nil { // no file may be open for appending
		if err := h.a.records.w.Close(); err != nil {
			return err
		}
	}
	for _, step := range []func() error{
		h.findDamage, h.reportLosses, h.healRecords, h.healTree, h.requeueLost, h.healOthers,
	} { // each step is durable before the next one
		if err := step(); err != nil {
			return err
		}
	}
	if _, err := reindex(h.a.folder.root, h.a.folder.dir, true); err != nil {
		return err
	}
	return h.a.Seal(h.ctx)
}

// report calls HealOptions.Report and writes a line to the journal.
func (h *healer) report(path, text string, repaired bool) {
	h.o.Report(path, text, repaired)
	h.a.Log(struct {
		Time  time.Time `json:"time"`
		State string    `json:"state"`
		Note  string    `json:"note"`
	}{h.o.Now().UTC(), "healed", path + ": " + text})
}

// reportLosses reports the renamed WARC files and the lost records that Open
// has found. It follows findDamage, because a line of the journal changes the
// digest of this file.
func (h *healer) reportLosses() error {
	for _, name := range h.a.Renamed() {
		h.report(warcFolder+"/"+name, "the file had the name of another WARC file, and was renamed", true)
	}
	for _, l := range h.a.Losses() {
		h.report(warcFolder+"/"+l.File, fmt.Sprintf("%d records are missing", l.Records), false)
	}
	return nil
}

// findDamage finds the files outside of the tree that do not match the manifest.
// The manifest does not describe the journal after a process was killed, so the
// checksums of its lines are verified too.
func (h *healer) findDamage() error {
	damaged, err := hasDamagedLines(h.a.folder.root)
	if err != nil {
		return err
	}
	if damaged {
		h.damaged[journalFile] = "the file has damaged lines"
	}
	r, intact, err := h.a.openManifest(h.seal)
	if err != nil || !intact {
		return err
	}
	defer r.close()
	v := &verifier{a: h.a, reporter: func(f Finding) bool {
		if !f.Note && !f.Derived {
			h.damaged[f.Path] = f.Text
		}
		return true
	}}
	return v.compareFiles(r, h.seal.Rows)
}

// healRecords repairs each damaged WARC file that the database lists.
func (h *healer) healRecords() error {
	ends, err := h.a.frontier.FileEnds(h.ctx)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(ends)) {
		damaged, err := h.isDamaged(name)
		if err != nil {
			return err
		}
		delete(h.damaged, warcFolder+"/"+name)
		switch {
		case !damaged:
		case h.o.RequeueOnly:
			err = h.forgetDamaged(name, ends[name])
		default:
			err = h.salvage(name)
		}
		if err != nil {
			return err
		}
	}
	return h.a.moveRetired(h.ctx)
}

// isDamaged reports whether a WARC file has damaged records, or differs from the
// manifest.
func (h *healer) isDamaged(name string) (bool, error) {
	if h.damaged[warcFolder+"/"+name] != "" {
		return true, nil
	}
	for f, err := range warc.Verify(filepath.Join(h.a.folder.dir, warcFolder, name)) {
		if err != nil {
			return false, err
		}
		if !f.Note && (f.Problem.IsDamage() || f.Problem == warc.DanglingReference) {
			return true, nil
		}
	}
	return false, nil
}

// forgetDamaged marks the damaged records of a WARC file as lost.
func (h *healer) forgetDamaged(name string, end int64) error {
	n, err := h.a.forget(h.ctx, name, end, func(s *frontier.Stored) bool {
		_, intact := h.a.readRecord(&s.Capture)
		return !intact
	})
	if n > 0 && err == nil {
		h.report(warcFolder+"/"+name, fmt.Sprintf("%d records are damaged", n), false)
	}
	return err
}

// salvage copies the intact records of a WARC file to a new file. Until the
// database refers to the new file, its name has the suffix warc.OpenSuffix.
// After a crash, Open removes such a file if the database does not contain it.
func (h *healer) salvage(name string) (err error) {
	old, err := h.a.openWARC(name)
	if err != nil {
		return err
	}
	defer old.Close()
	info, err := old.Stat()
	if err != nil {
		return err
	}
	healed := h.healedName(name)
	dir := h.a.records.dir
	f, err := dir.OpenFile(healed+warc.OpenSuffix, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	moved, err := warc.Salvage(f, old, info.Size(), healed)
	size, seekErr := f.Seek(0, io.SeekEnd)
	if err = errors.Join(err, seekErr, f.Sync(), f.Close(), regularfile.SyncFolder(dir)); err != nil {
		return err
	}
	to := healed
	if size == 0 {
		to = ""
	}
	lost, err := h.a.relocate(h.ctx, name, name, to, size, func(s *frontier.Stored) (frontier.Move, bool) {
		i, found := slices.BinarySearchFunc(moved, s.Offset, func(m warc.Moved, at int64) int { return cmp.Compare(m.From, at) })
		if !found {
			return frontier.Move{Lost: true}, true
		}
		return frontier.Move{Offset: moved[i].To, Length: moved[i].Length}, true
	})
	if err != nil {
		return err
	}
	h.report(warcFolder+"/"+name, fmt.Sprintf("%d records copied to %s, %d objects lost", len(moved), healed, lost), true)
	if size == 0 {
		return dir.Remove(healed + warc.OpenSuffix)
	}
	return errors.Join(dir.Rename(healed+warc.OpenSuffix, healed), regularfile.SyncFolder(dir))
}

// healedName returns an unused name for the copy of a WARC file.
func (h *healer) healedName(name string) string {
	base, _ := strings.CutSuffix(name, ".warc.gz")
	base, _, _ = strings.Cut(base, "-healed")
	for n := 1; ; n++ {
		healed := fmt.Sprintf("%s-healed%d.warc.gz", base, n)
		if _, err := h.a.records.dir.Lstat(healed); errors.Is(err, fs.ErrNotExist) {
			return healed
		}
	}
}

// healTree moves damaged files of the tree to the attic. It restores them and
// missing files from WARC records if possible.
func (h *healer) healTree() error {
	if !h.a.options.Tree {
		return nil
	}
	var lost []frontier.Key
	err := h.a.checkFiles(h.ctx, func(f checkedFile) error {
		if f.problem == "" {
			return nil
		}
		restored, err := h.healFile(f.capture, f.problem)
		if err == nil && !restored {
			lost = append(lost, f.key)
		}
		return err
	})
	if err == nil {
		err = h.a.store.SyncFolders()
	}
	return errors.Join(err, h.requeue(lost))
}

// healFile restores the file of c, whose problem is text, and moves a damaged
// file to the attic. It reports whether the tree then contains the object.
func (h *healer) healFile(c *frontier.Capture, text string) (intact bool, err error) {
	path := tree.Dir + "/" + c.Path
	source, err := h.a.original(h.ctx, c)
	if err != nil {
		return false, err
	}
	if text != missing {
		kept, err := h.hasOtherForm(c)
		if err != nil {
			return false, err
		}
		if kept {
			h.report(path, text+"; kept, because its WARC record contains the same bytes", false)
			return true, nil
		}
		if err := h.a.store.MoveAside(path, h.a.atticName("heal")); err != nil {
			return false, err
		}
	}
	form := h.a.formOf(source)
	if form == nil {
		h.report(path, text, false)
		return false, nil
	}
	if err := h.restore(c, form); err != nil {
		return false, err
	}
	h.report(path, text+"; restored from "+source.File, true)
	return true, nil
}

// hasOtherForm reports whether the file of c in the tree has the bytes of a WARC
// record, but not in the form that the database describes.
func (h *healer) hasOtherForm(c *frontier.Capture) (bool, error) {
	size, digest, err := hashFile(h.a.store, c.Path)
	if err != nil || size <= 0 { // a truncated file can equal an empty object
		return false, nil
	}
	return h.a.hasOtherForm(h.ctx, c, size, digest)
}

// restore writes the file of c in the tree from the WARC record of its object.
func (h *healer) restore(c *frontier.Capture, form bodyOf) error {
	body, err := h.a.reopenRecord(h.ctx, c, form)
	if err != nil {
		return err
	}
	defer body.Close()
	f, err := h.a.store.Create(Label(c.Key))
	if err != nil {
		return err
	}
	_, digest, err := hashObject(io.TeeReader(io.LimitReader(body, c.Size+1), f))
	if err == nil && digest != c.Digest {
		err = fetch.Mismatch.Errorf("the record contains another object")
	}
	if err != nil {
		return errors.Join(err, f.Discard())
	}
	return f.Publish(c.Path, c.Modified)
}

// requeueLost makes a URL pending if the WARC record of its newest object is
// lost.
func (h *healer) requeueLost() error {
	var lost []frontier.Key
	err := h.a.eachRetrieved(h.ctx, func(it frontier.Item, _ frontier.State) error {
		if c := it.LastCapture; c.ID != "" && c.File == "" {
			lost = append(lost, it.Key)
		}
		return nil
	})
	return errors.Join(err, h.requeue(lost))
}

func (h *healer) requeue(keys []frontier.Key) error {
	n, err := h.a.frontier.RequeueItems(h.ctx, keys)
	h.requeued += n
	return err
}
