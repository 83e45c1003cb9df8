package archive

import (
	"context"
	"errors"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/anyurl/fetch/internal/base/regularfile"
	"github.com/anyurl/fetch/warc"
)

// Renamed returns the names of the WARC files that had the name of another WARC
// file of the archive. Open has renamed them.
func (a *Archive) Renamed() []string { return a.renamed }

// movingSuffix follows the name of a WARC file while restoreNames renames it.
const movingSuffix = ".moving"

// restoreNames finds WARC files that have the name of another WARC file of the
// archive, for example because two files were swapped. It gives each of them
// the name in its warcinfo record. Otherwise all their records would count as
// damaged. If the process is killed, the next call continues.
//
// A file keeps its name if the other name belongs to a file in its right place.
func (a *Archive) restoreNames(ctx context.Context) error {
	ends, err := a.frontier.FileEnds(ctx)
	if err != nil || len(ends) == 0 {
		return err
	}
	moves, occupied := map[string]string{}, map[string]bool{} // moves has the paths of misplaced files, by their right names
	for _, name := range slices.Sorted(maps.Keys(ends)) {
		if path.Base(name) != name {
			continue // the database is forged
		}
		at, content := a.contentOf(name)
		_, known := ends[content]
		switch {
		case at == "":
		case content != name && known && moves[content] == "":
			moves[content] = at
		default:
			occupied[name] = true
		}
	}
	maps.DeleteFunc(moves, func(name, _ string) bool { return occupied[name] })
	if err := a.moveWARC(moves); err != nil {
		return err
	}
	for name := range ends {
		if err := a.finishMove(name); err != nil {
			return err
		}
	}
	if len(a.renamed) == 0 {
		return nil
	}
	dir, err := a.folder.root.OpenRoot(warcFolder)
	if err != nil {
		return err
	}
	return errors.Join(regularfile.SyncFolder(dir), dir.Close())
}

// contentOf returns the path of the WARC file with the given name, and the name
// in its warcinfo record. If there is no such file, at is "". If the record
// cannot be read, content is the name of the file.
func (a *Archive) contentOf(name string) (at, content string) {
	for _, at := range warcPaths(name) {
		f, err := regularfile.OpenIn(a.folder.root, at)
		if err != nil {
			continue
		}
		defer f.Close()
		h, err := warc.NewReader(f).Next()
		if err != nil || h.Type() != warc.Info || h.Get("WARC-Filename") == "" {
			return at, name
		}
		return at, h.Get("WARC-Filename")
	}
	return "", ""
}

// moveWARC renames WARC files. The keys of moves are the new names, and the
// values are the paths of the files. A file is unfinished if its new name
// belonged to an unfinished file.
func (a *Archive) moveWARC(moves map[string]string) error {
	root := a.folder.root
	names := slices.Sorted(maps.Keys(moves))
	unfinished := map[string]bool{}
	for _, at := range moves {
		if name, ok := strings.CutSuffix(path.Base(at), warc.OpenSuffix); ok {
			unfinished[name] = true
		}
	}
	target := func(name string) string {
		if unfinished[name] {
			name += warc.OpenSuffix
		}
		return warcFolder + "/" + name
	}
	for _, name := range names {
		if err := root.Rename(moves[name], target(name)+movingSuffix); err != nil {
			return err
		}
	}
	for _, name := range names {
		if err := root.Rename(target(name)+movingSuffix, target(name)); err != nil {
			return err
		}
	}
	a.renamed = append(a.renamed, names...)
	return nil
}

// finishMove completes a renaming of the WARC file with the given name that was
// interrupted between its two steps.
func (a *Archive) finishMove(name string) error {
	for _, to := range warcPaths(name) {
		if _, err := a.folder.root.Lstat(to + movingSuffix); err != nil {
			continue
		}
		if at, _ := a.contentOf(name); at != "" {
			continue // another file got the name in the meantime, or must be renamed first
		}
		if err := a.folder.root.Rename(to+movingSuffix, to); err != nil {
			return err
		}
		a.renamed = append(a.renamed, name)
	}
	return nil
}
