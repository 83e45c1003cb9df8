package sqlite

import (
	"encoding/binary"
	"errors"
	"io"
)

// ErrTree means that SQLite cannot read the trees of a database in bounded memory.
var ErrTree = errors.New("the pages of its tables are damaged")

// Types of the pages of an index. See also interiorPage and leafPage.
const (
	interiorIndexPage = 2 // has children, and entries
	leafIndexPage     = 10
)

// maxDepth is the depth above which a query of SQLite fails. The check of a deeper
// tree needs memory for each of its pages.
const maxDepth = 20

// maxTreePages is the maximum number of pages of a database, which is 1 TiB with
// pages of 4 KiB.
const maxTreePages = 1 << 28

// CheckTrees returns [ErrTree] if SQLite could need unbounded memory to read the
// tables and indexes of a forged database. This is the case if a tree is deep, or
// if an index has a large entry. SQLite reads a complete entry to compare it, and
// does not apply [MaxRow]. The parameter rows has the maximum sizes of rows, by the
// name of their table, for parts of SQLite that do not apply MaxRow, such as FTS5.
//
// Each page must belong to one tree. CheckTrees reads all pages of the trees, and
// needs one bit of memory for each page of the database. The caller must have
// started a transaction if other processes can change the database. If file is not
// nil, it is the immutable database, whose pages CheckTrees reads without SQLite.
func (c *Conn) CheckTrees(file io.ReaderAt, rows map[string]int) error {
	w := treeWalker{conn: c, file: file}
	size := 0
	err := errors.Join(c.Scan("pragma page_count", nil, &w.pages), c.Scan("pragma page_size", nil, &size))
	switch {
	case err != nil || w.pages == 0:
		return err
	case w.pages > maxTreePages:
		return ErrTree
	}
	w.seen, w.page = make([]uint64, w.pages/64+1), make(Raw, size)
	roots := map[int64]int{1: 0}
	err = c.ForEachRow("select rootpage, name from sqlite_schema where rootpage > 0", nil, func(r *Row) error {
		var root int64
		var name string
		if err := r.Scan(&root, &name); err != nil {
			return err
		}
		if _, used := roots[root]; used { // the limit of one table would replace that of the other
			return ErrTree
		}
		roots[root] = rows[name]
		return nil
	})
	for root, limit := range roots {
		if err == nil {
			w.limit = limit
			err = w.walk(root, 1)
		}
	}
	return err
}

// A treeWalker reads the pages of trees.
type treeWalker struct {
	conn  *Conn
	file  io.ReaderAt // or nil
	pages int64
	seen  []uint64 // a bit for each page
	limit int      // maximum size of a row of the table, or 0
	page  Raw      // the last page
}

// read reads the page n.
func (w *treeWalker) read(n int64) error {
	if w.file == nil {
		return w.conn.Scan("select data from sqlite_dbpage where pgno = ?", []any{n}, &w.page)
	}
	size, err := w.file.ReadAt(w.page, (n-1)*int64(len(w.page)))
	clear(w.page[size:]) // as SQLite reads an incomplete page at the end
	if err == io.EOF {
		err = nil
	}
	return err
}

// walk reads the page n at the given depth, and the pages below it.
func (w *treeWalker) walk(n int64, depth int) error {
	if n < 1 || n > w.pages || depth > maxDepth || w.seen[n/64]&(1<<(n%64)) != 0 {
		return ErrTree
	}
	w.seen[n/64] |= 1 << (n % 64)
	if err := w.read(n); err != nil {
		return err
	}
	header := 0
	if n == 1 {
		header = fileHeader
	}
	children, err := w.check(w.page, header)
	for _, child := range children {
		if err == nil {
			err = w.walk(int64(child), depth+1)
		}
	}
	return err
}

// check checks the sizes of the entries of a page, and returns its children.
func (w *treeWalker) check(page []byte, header int) (children []uint32, err error) {
	kind, cells, at := page[header], int(binary.BigEndian.Uint16(page[header+3:])), header+8
	interior := kind == interiorPage || kind == interiorIndexPage
	if interior {
		children, at = append(children, binary.BigEndian.Uint32(page[at:])), at+4
	} else if kind != leafPage && kind != leafIndexPage {
		return nil, ErrTree
	}
	limit := MaxRow
	if kind == leafPage {
		limit = w.limit
	}
	if at+2*cells > len(page) {
		return nil, ErrTree
	}
	for i := range cells {
		cell := int(binary.BigEndian.Uint16(page[at+2*i:]))
		if interior {
			if cell+4 > len(page) {
				return nil, ErrTree
			}
			children, cell = append(children, binary.BigEndian.Uint32(page[cell:])), cell+4
		}
		if kind == interiorPage || limit == 0 {
			continue
		}
		if size, err := rowSize(page, cell); err != nil || size > limit {
			return nil, ErrTree
		}
	}
	return children, nil
}
