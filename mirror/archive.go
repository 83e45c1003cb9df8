package mirror

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/frontier"
	"github.com/anyurl/fetch/internal/tree"
	"github.com/anyurl/fetch/save"
	"github.com/anyurl/fetch/warc"
)

// What stands in an archive's folder.
const (
	database  = "fetch.db"
	lockFile  = "lock"
	warcs     = "warc"
	indexFile = "index/all.cdxj"
	manifest  = "manifest-sha256.txt"
	logFile   = "crawl.jsonl"
)

// archive is the open folder. One process has it at a time.
type archive struct {
	root   *os.Root
	lock   save.Handle
	alone  bool // lock is ours
	front  frontier.Frontier
	store  *tree.Store
	namer  *tree.Namer
	layout tree.Layout
	log    *journal
	warc   *warc.Writer // nil: none is written
	warcs  *os.Root

	index *index // of the WARC file that is being written

	mu   sync.Mutex       // of the batches: one at a time
	ends map[string]int64 // how far the WARC files are whole, of this batch
	safe map[string]int64 // and of those before

	started time.Time
}

// open takes the archive, cuts off what an earlier run did not commit, and
// makes the mirror that works on it.
func open(ctx context.Context, o Options) (*mirror, error) {
	m := &mirror{
		Options: o, archive: &archive{ends: map[string]int64{}, index: &index{}, started: o.Now()},
		scope: newJudge(o.Scope, o.Client.Scheme, o.Seeds), trust: newTrust(o), auth: map[fetch.Origin]*fetch.Credential{},
		seeds: map[frontier.Key]bool{}, proofs: proofs{}, tally: tally{hosts: map[string]int64{}}, silences: silences{of: map[fetch.Origin]silence{}},
	}
	err := m.take(o.Dir)
	if err == nil {
		err = m.recover(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, m.close())
	}
	return m, nil
}

// take makes the folder and locks it.
func (a *archive) take(dir string) error {
	err := os.MkdirAll(dir, 0o777)
	if err == nil {
		err = a.enter(dir)
	}
	if err == nil {
		err = a.hold(dir)
	}
	return fault(err)
}

func (a *archive) enter(dir string) (err error) {
	a.root, err = os.OpenRoot(dir)
	return err
}

// hold keeps other processes from the archive, until this one ends.
func (a *archive) hold(dir string) (err error) {
	if a.lock, err = save.OpenLock(filepath.Join(dir, lockFile)); errors.Is(err, fetch.InUse) {
		return fetch.InUse.Errorf("another process works on %s", dir)
	}
	a.alone = err == nil
	return err
}

// fault makes an error of this machine one of ours.
func fault(err error) error {
	if err == nil || fetch.FaultOf(err) != fetch.Internal {
		return err
	}
	return fetch.Local.With(err)
}

func (a *archive) openFrontier(ctx context.Context, dir string) error {
	f, err := frontier.Open(ctx, "sqlite:"+filepath.Join(dir, database))
	if err == nil { // else f may be a nil that is not nil
		a.front = f
	}
	return err
}

// recover opens the database and brings the files back to what it says.
func (m *mirror) recover(ctx context.Context) (err error) {
	if _, err := m.root.Stat(tree.Dir); err == nil && !m.Tree {
		return fetch.Usage.Errorf("%s has a tree, which a run without one would leave behind: it wants another folder", m.Dir)
	}
	if err := m.openFrontier(ctx, m.Dir); err != nil {
		return fault(err)
	}
	m.front.Limit(limit(m.Limits.Queue, DefaultQueue))
	if err := m.front.Evict(ctx); err != nil {
		return fault(err)
	}
	if m.store, err = tree.Open(m.Dir, tree.Options{}); err != nil {
		return fault(err)
	}
	if err := m.redo(ctx); err != nil {
		return fault(err)
	}
	if err := errors.Join(m.store.Clean(), m.findParts()); err != nil {
		return fault(err)
	}
	if err := m.openLayout(ctx); err != nil {
		return fault(err)
	}
	m.namer = tree.NewNamer(m.layout, m.front.Named)
	if m.log, err = openJournal(m.root, m.Event); err != nil {
		return fault(err)
	}
	if m.safe, err = m.front.Ends(ctx); err != nil {
		return fault(err)
	}
	return fault(m.startWARC())
}

// openLayout reads the layout of the tree. A later one is an error, because
// this version cannot tell the paths of its files.
func (a *archive) openLayout(ctx context.Context) error {
	n, err := a.front.Layout(ctx)
	if a.layout = tree.Layout(n); err == nil && (a.layout < tree.FirstLayout || a.layout > tree.NewLayout) {
		err = fetch.Local.Errorf("the tree has layout %d: a newer fetch wrote it; this one knows %d", n, tree.NewLayout)
	}
	return err
}

// startWARC goes on behind the last record that was committed. It does so where
// no WARC is wanted too, if an earlier run left one open.
func (m *mirror) startWARC() error {
	if m.WARC == nil && len(m.safe) == 0 {
		return nil
	}
	if err := m.root.MkdirAll(warcs, 0o777); err != nil {
		return err
	}
	var err error
	if m.warcs, err = m.root.OpenRoot(warcs); err != nil {
		return err
	}
	var o warc.Options
	if w := m.WARC; w != nil {
		o = warc.Options{Prefix: w.Prefix, MaxSize: math.MaxInt64, Info: w.Info, Now: m.Now} // rotate tells
	}
	if m.warc, err = warc.NewWriter(warc.Root(m.warcs), o); err != nil {
		return err
	}
	names, err := m.openWARCs()
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := m.resume(name); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// resume cuts off what no run committed, and says so.
func (m *mirror) resume(name string) error {
	info, err := m.warcs.Lstat(name + warc.OpenSuffix)
	if err != nil {
		return err
	}
	end := m.safe[name]
	if err := m.warc.Resume(name, end); err != nil {
		return err
	}
	if more := info.Size() - end; more > 0 {
		m.log.add(Event{
			Time: m.Now().UTC(), URL: "", State: "cut", WARC: name, Offset: end, Size: more,
			Note: fmt.Sprintf("%s: %d bytes that no run committed are cut off", name, more),
		})
	}
	return nil
}

// openWARCs are the files that an earlier run did not close, by their final
// names.
func (m *mirror) openWARCs() (names []string, err error) {
	entries, err := fs.ReadDir(m.warcs.FS(), ".")
	for _, e := range entries {
		if name, open := strings.CutSuffix(e.Name(), warc.OpenSuffix); open && warc.Is(name) {
			names = append(names, name)
		}
	}
	return names, err
}

// rewind cuts off what a batch that was not committed wrote.
func (m *mirror) rewind() (err error) {
	for name := range m.ends {
		err = errors.Join(err, m.warc.Resume(name, m.safe[name]))
	}
	clear(m.ends)
	m.index.whole = false // it has lines of what is cut off
	if err != nil {       // what cannot be cut off now is cut off by the next run
		err = errors.Join(err, m.warc.Abandon())
	}
	return err
}

// rotate finishes a WARC file that is large enough. All of it is committed: a
// file that has its final name never needs to be cut.
func (m *mirror) rotate(ends map[string]int64) error {
	limit := int64(warc.DefaultMaxSize)
	if m.WARC != nil && m.WARC.Size > 0 {
		limit = m.WARC.Size
	}
	for _, end := range ends {
		if end >= limit {
			return m.warc.Close()
		}
	}
	return nil
}

// close gives back what is open of the archive.
func (a *archive) close() (err error) {
	if a.warc != nil {
		err = a.warc.Close()
	}
	if a.log != nil {
		err = errors.Join(err, a.log.close())
	}
	if a.store != nil {
		err = errors.Join(err, a.store.Close())
		if a.alone {
			a.root.Remove(tree.Tmp) // fails where something is left for the next run
		}
	}
	if a.front != nil {
		err = errors.Join(err, a.front.Close())
	}
	if a.warcs != nil {
		err = errors.Join(err, a.warcs.Close())
	}
	if a.lock != nil {
		err = errors.Join(err, a.lock.Close())
	}
	if a.root != nil {
		err = errors.Join(err, a.root.Close())
	}
	return fault(err)
}

// has reports whether the archive holds c in every form that is wanted.
func (m *mirror) has(c *frontier.Capture) bool {
	if m.WARC != nil && c.ID == "" {
		return false
	}
	if !m.Tree || c.Path == "" && c.Code/100 == 3 {
		return true
	}
	return c.Path != "" && !m.lacksFile(c)
}

// lacksFile reports whether the file of c in the tree is missing or has
// another size.
func (m *mirror) lacksFile(c *frontier.Capture) bool {
	if !m.Tree || c.Path == "" {
		return false
	}
	info, err := m.store.Stat(c.Path)
	return err != nil || info.Size() != c.Size
}
