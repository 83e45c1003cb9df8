package textindex

import (
	"errors"
	"fmt"
	"strings"

	"github.com/anyurl/fetch/internal/base/sqlite"
)

const (
	applicationID = 0x66747478 // identifies a database as a text index
	schemaVersion = 2
)

// schema creates the tables. The tokenizer ascii separates words at spaces. The
// function [words] returns the words. The column facet has words for the filters
// of a search. The table heading has the titles again: a search for frequent
// words in titles only would otherwise read the positions in all bodies.
const schema = `
create table doc (id integer primary key, file text not null, offset integer not null, timestamp text not null, url text not null, text blob, unique (file, offset));
create virtual table word using fts5(title, body, facet, content='', contentless_delete=1, tokenize='ascii');
create virtual table heading using fts5(title, facet, content='', contentless_delete=1, tokenize='ascii');
`

// create creates the tables in an empty database.
func create(conn *sqlite.Conn) error {
	return conn.Script(fmt.Sprintf("pragma application_id=%d; pragma user_version=%d;", applicationID, schemaVersion) + schema)
}

// checkSchema returns an error unless the database has exactly the tables that
// create creates. Another database could contain triggers, views or expressions,
// which SQLite would execute.
func checkSchema(conn *sqlite.Conn) error {
	var id, version int
	if err := errors.Join(conn.Scan("pragma application_id", nil, &id), conn.Scan("pragma user_version", nil, &version)); err != nil {
		return err
	}
	switch {
	case id != applicationID:
		return errors.New("fetch did not write it")
	case version != schemaVersion:
		return fmt.Errorf("it has version %d, and this version of fetch reads version %d", version, schemaVersion)
	}
	want, err := newSchema()
	if err != nil {
		return err
	}
	have, err := readSchema(conn)
	if err == nil && have != want {
		err = errors.New("its tables are not those of fetch")
	}
	return err
}

// newSchema returns the schema of a new database.
func newSchema() (text string, err error) {
	conn, err := sqlite.Open("file::memory:")
	if err != nil {
		return "", err
	}
	if err = create(conn); err == nil {
		text, err = readSchema(conn)
	}
	return text, errors.Join(err, conn.Close())
}

// readSchema returns the definitions of all tables and indexes as a text.
func readSchema(conn *sqlite.Conn) (string, error) {
	var all strings.Builder
	const query = "select type, name, tbl_name, rootpage > 0, coalesce(sql, '') from sqlite_schema order by type, name"
	err := conn.ForEachRow(query, nil, func(r *sqlite.Row) error {
		var kind, name, table, text string
		var stored bool
		err := r.Scan(&kind, &name, &table, &stored, &text)
		fmt.Fprintf(&all, "%q %q %q %v %q\n", kind, name, table, stored, text)
		if all.Len() > maxSchema {
			return errors.New("its schema is too large")
		}
		return err
	})
	return all.String(), err
}

// maxSchema limits the size of the schema of an untrusted database in bytes.
const maxSchema = 64 << 10
