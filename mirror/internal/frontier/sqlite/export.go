package sqlite

import (
	"context"
	"errors"
	"iter"
	"strings"

	"github.com/anyurl/fetch/internal/base/sqlite"
	"github.com/anyurl/fetch/mirror/internal/frontier"
)

// exportedTables lists the tables, columns and queries of Export. The first
// column of a query is the row number, which is not part of the result.
var exportedTables = [...]struct{ name, columns, query string }{
	{"book", "run live", "select rowid, run, live from book where rowid > ?"},
	{"tally", "slot pending done kept gone dead excluded before urls captures bytes",
		`select rowid, 0, pending, done, kept, gone, dead, excluded, before, urls, captures, bytes from book where rowid > ?`},
	{"counter", "name n", "select * from (select row_number() over (order by name) row, name, n from counter) where row > ?"},
	{"run", "id note started ended", "select id, id, note, started, ended from run where id > ?"},
	{"file", "id name ends", "select id, id, name, ends from file where id > ?"},
	{"host", "id name next epoch held delay crawl excluded", `select h.id, h.id, h.name, h.next, h.epoch, c.held,
		coalesce(c.delay, 0), coalesce(c.crawl, 0), coalesce(c.excluded, 0)
		from host h left join control c on c.host = h.id where h.id > ?`},
	{"host_count", "host objects", "select host, host, objects from control where objects > 0 and host > ?"},
	{"url", "id key state run host prio depth attempts wait via last url meta note",
		`select id, id, key, state, run, host, prio, depth, attempts, wait, via, last, cast(url as blob), meta, cast(note as blob)
		from url where id > ?`},
	{"capture", `id item key url run time kind media code size digest validator modified path file at bytes record proof
		checksum`,
		`select id, id, item, key, cast(url as blob), run, time, kind, cast(media as blob), code, size, digest,
		cast(validator as blob), modified, x'', file, at, bytes, cast(record as blob), cast(proof as blob), checksum
		from capture where id > ?`},
}

// Export returns the tables of an SQLite database. They contain neither the seal
// nor paths of the tree. No host may be leased: the caller must call Evict. The
// rows must not change while they are read.
func Export(ctx context.Context, f frontier.Frontier) ([]frontier.ExportedTable, error) {
	e, ok := f.(*engine)
	if !ok {
		return nil, errors.New("frontier: only a database in a file can be copied")
	}
	var all []frontier.ExportedTable
	for _, t := range exportedTables {
		rows := exportRows(ctx, e, t.query)
		all = append(all, frontier.ExportedTable{Name: t.name, Columns: strings.Fields(t.columns), Rows: rows})
	}
	return all, nil
}

// exportRows returns the rows of a query of exportedTables.
func exportRows(ctx context.Context, e *engine, query string) iter.Seq2[[]any, error] {
	return eachPage(ctx, e, query+" order by 1 limit ?+0", nil, func(r *sqlite.Row) ([]any, int64, error) {
		values, err := r.Values()
		if err != nil {
			return nil, 0, err
		}
		id, _ := values[0].(int64)
		return values[1:], id, nil
	})
}
