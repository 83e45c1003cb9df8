package diskmodel

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/anyurl/fetch/internal/test/filecalls"
)

// An Amount selects how many of the unsynced changes a disk has.
type Amount int

// The amounts.
const (
	None Amount = iota
	All
	Some // a random part
)

// Rules select one of the states that a disk may have.
type Rules struct {
	Names       Amount // changes of names and truncations
	Data        Amount // bytes of writes
	Directories bool   // each directory has its own journal
	Seed        uint64 // for Some
}

func (r Rules) String() string {
	of := []string{"no", "all", "some"}
	text := fmt.Sprintf("%s unsynced names, %s unsynced bytes", of[r.Names], of[r.Data])
	if r.Names == Some || r.Data == Some {
		text += fmt.Sprintf(" (seed %d)", r.Seed)
	}
	if r.Directories {
		text += ", a journal for each directory"
	}
	return text
}

// A State is the content of a disk: the contents of files by name. The value of
// a directory is nil, and its name ends with a slash.
type State map[string][]byte

// After returns the state after a power failure before the call i. The number of
// calls is that after the last call.
func (d *Disk) After(i int, r Rules) State {
	w := &writer{d: d, end: i, rules: r, random: rand.New(rand.NewPCG(r.Seed, uint64(i))), entries: map[*node]map[string]*node{}}
	w.chooseNames()
	s := State{}
	w.collect(s, "", d.root)
	return s
}

// A writer computes a state.
type writer struct {
	d       *Disk
	end     int
	rules   Rules
	random  *rand.Rand
	kept    []bool // whether the disk has an op that changes names or truncates
	entries map[*node]map[string]*node
}

// isJournaled reports whether an op is a change of the journal.
func isJournaled(o *op) bool { return len(o.names) > 0 || o.call.Kind == filecalls.Truncate }

// chooseNames chooses the durable changes of the journal.
func (w *writer) chooseNames() {
	ops := w.d.ops[:w.end]
	w.kept = make([]bool, len(ops))
	if w.rules.Directories {
		w.chooseByDirectory(ops)
	} else {
		synced := 0
		for _, o := range ops {
			synced = max(synced, syncedPrefix(ops, &o))
		}
		end := synced
		switch w.rules.Names {
		case All:
			end = len(ops)
		case Some:
			end += w.random.IntN(len(ops) - synced + 1)
		}
		for i := range end {
			w.kept[i] = true
		}
	}
	for i, o := range ops {
		for _, c := range o.names {
			if w.kept[i] {
				c.apply(w.entriesOf(c.dir))
			}
		}
	}
}

// syncedPrefix returns the number of changes of the journal that a sync makes
// durable.
func syncedPrefix(ops []op, s *op) int {
	switch s.call.Kind {
	case filecalls.SyncAll:
		return s.call.Began
	case filecalls.Sync:
		for i := min(s.call.Began, len(ops)); i > 0; i-- {
			if ops[i-1].touches(s.node) {
				return i
			}
		}
	}
	return 0
}

// chooseByDirectory chooses a prefix of the changes of each directory. A rename
// between two directories belongs to both.
func (w *writer) chooseByDirectory(ops []op) {
	synced := map[*node]int{} // number of durable ops
	for i := range ops {
		switch o := &ops[i]; o.call.Kind {
		case filecalls.Sync:
			synced[o.node] = max(synced[o.node], o.call.Began)
		case filecalls.SyncAll:
			for j := range ops[:o.call.Began] {
				for _, c := range ops[j].names {
					synced[c.dir] = o.call.Began
				}
				synced[ops[j].node] = o.call.Began
			}
		}
	}
	stopped := map[*node]bool{}
	for i := range ops {
		o := &ops[i]
		if !isJournaled(o) {
			continue
		}
		places := []*node{o.node}
		if len(o.names) > 0 {
			places = nil
			for _, c := range o.names {
				places = append(places, c.dir)
			}
		}
		keep := w.rules.Names == All || w.rules.Names == Some && w.random.IntN(8) > 0
		for _, p := range places {
			keep = keep && !stopped[p]
		}
		for _, p := range places {
			keep = keep || i < synced[p]
		}
		if w.kept[i] = keep; !keep {
			for _, p := range places {
				stopped[p] = true
			}
		}
	}
}

// entriesOf returns the entries of a directory on the disk.
func (w *writer) entriesOf(dir *node) map[string]*node {
	if w.entries[dir] == nil {
		w.entries[dir] = maps.Clone(dir.first)
	}
	return w.entries[dir]
}

// collect adds the files below a directory to a state.
func (w *writer) collect(s State, prefix string, dir *node) {
	entries := w.entriesOf(dir)
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		n, full := entries[name], path.Join(prefix, name)
		switch {
		case n.dir:
			s[full+"/"] = nil
			w.collect(s, full, n)
		case n.target != "":
			s[full+"@"] = []byte(n.target)
		default:
			s[full] = w.bytesOf(n)
		}
	}
}

// bytesOf returns the bytes of a file on the disk.
func (w *writer) bytesOf(n *node) []byte {
	data := slices.Clone(n.data)
	synced := 0 // number of durable ops
	for i := range w.d.ops[:w.end] {
		if o := &w.d.ops[i]; o.syncAll || o.call.Kind == filecalls.Sync && o.node == n {
			synced = max(synced, o.call.Began)
		}
	}
	moments := w.moments(synced)
	for i := range w.d.ops[:w.end] {
		o := &w.d.ops[i]
		switch {
		case o.node != n:
		case o.call.Kind == filecalls.Truncate:
			if !w.kept[i] && i >= synced {
				return data
			}
			data = resize(data, o.call.Offset)
		case o.call.Kind == filecalls.Write:
			for at := 0; at < len(o.call.Data); {
				offset := o.call.Offset + int64(at)
				bytes := o.call.Data[at:min(len(o.call.Data), at+PageSize-int(offset%PageSize))]
				if i < synced || i < moments(offset/PageSize) {
					data = write(data, offset, bytes)
				}
				at += len(bytes)
			}
		}
	}
	return data
}

// moments returns a function that returns, for each page of a file, the number of
// ops before the page was written to the disk for the last time.
func (w *writer) moments(synced int) func(page int64) int {
	switch w.rules.Data {
	case None:
		return func(int64) int { return synced }
	case All:
		return func(int64) int { return w.end }
	}
	random := func() int { return synced + w.random.IntN(w.end-synced+1) }
	if w.random.IntN(2) == 0 { // all pages at the same time
		same := random()
		return func(int64) int { return same }
	}
	pages := map[int64]int{}
	return func(page int64) int {
		if _, ok := pages[page]; !ok {
			pages[page] = random()
		}
		return pages[page]
	}
}

func resize(data []byte, size int64) []byte {
	if size <= int64(len(data)) {
		return data[:size]
	}
	return append(data, make([]byte, size-int64(len(data)))...)
}

func write(data []byte, at int64, text []byte) []byte {
	if end := at + int64(len(text)); end > int64(len(data)) {
		data = resize(data, end)
	}
	copy(data[at:], text)
	return data
}

// Digest returns a text that is equal for equal states.
func (s State) Digest() string {
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(s)) {
		fmt.Fprintf(h, "%q %d\n", name, len(s[name]))
		h.Write(s[name])
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

// Write creates the files of the state in an empty directory.
func (s State) Write(dir string) error {
	names := slices.SortedFunc(maps.Keys(s), func(a, b string) int { return cmp.Compare(a, b) })
	for _, name := range names {
		full := filepath.Join(dir, strings.TrimRight(name, "/@"))
		var err error
		switch {
		case strings.HasSuffix(name, "/"):
			err = os.MkdirAll(full, 0o755)
		case strings.HasSuffix(name, "@"):
			err = os.Symlink(string(s[name]), full)
		default:
			if err = os.MkdirAll(filepath.Dir(full), 0o755); err == nil {
				err = os.WriteFile(full, s[name], 0o644)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}
