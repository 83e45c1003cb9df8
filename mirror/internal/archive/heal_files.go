package archive

import (
	"errors"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/anyurl/fetch/mirror/internal/tree"
)

// healOthers moves the damaged files that earlier steps did not repair, such as
// mailboxes, to the attic. The next run writes them again, except for files of
// the attic.
func (h *healer) healOthers() error {
	if h.o.RequeueOnly {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(h.damaged)) {
		h.report(name, h.damaged[name], true)
		var err error
		switch _, lost := h.a.folder.root.Lstat(name); {
		case lost != nil:
		case name == journalFile:
			err = h.healJournal()
		default:
			err = h.a.store.MoveAside(name, h.a.atticName("heal"))
		}
		if err == nil && strings.HasPrefix(name, mailFolder+"/") {
			if err = h.a.folder.root.Remove(mailMarker); errors.Is(err, fs.ErrNotExist) {
				err = nil
			}
		}
		if err != nil {
			return err
		}
	}
	return h.a.store.SyncFolders()
}

// healJournal copies the journal to the attic and removes its damaged lines.
func (h *healer) healJournal() error {
	root := h.a.folder.root
	if err := h.a.journal.close(); err != nil {
		return err
	}
	old, err := root.Open(journalFile)
	if err != nil {
		return err
	}
	defer old.Close()
	aside := tree.Attic + "/" + h.a.atticName("heal")
	err = replaceFrom(root, tree.Tmp+"/"+journalFile+".part", aside+"/"+journalFile, func(w io.Writer) error {
		_, err := io.Copy(w, old)
		return err
	})
	if err == nil {
		err = syncFolders(root, aside, tree.Attic)
	}
	if err == nil {
		_, err = old.Seek(0, io.SeekStart)
	}
	if err == nil {
		err = replaceFile(root, journalFile, func(w io.Writer) error {
			for line, err := range journalLines(old) {
				if err == nil && line != nil {
					_, err = w.Write(appendChecksum(line))
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err != nil {
		return err
	}
	h.a.journal, err = openJournal(root)
	return err
}
