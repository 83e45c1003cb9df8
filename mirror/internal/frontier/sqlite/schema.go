package sqlite

import (
	_ "embed"
	"errors"
	"fmt"
	"strings"

	"github.com/anyurl/fetch/internal/base/sqlite"
)

//go:embed schema.sql
var schema string

// tableVersions contains the tables that older databases lack. The
// values are the schema versions that introduced the tables.
var tableVersions = map[string]int{"layout": 2, "seal": 3, "control": 5, "counter": 5, "unlogged": 6}

// checksumColumn is the definition of the column that databases before
// checksumVersion lack. It is the last column of its table.
const (
	checksumColumn  = "checksum integer"
	checksumVersion = 4
)

// schemaStatements returns the SQL statements that create the tables and
// indexes of a schema version. The keys are the names of the tables and
// indexes.
func schemaStatements(version int) map[string]string {
	all := map[string]string{}
	for statement := range strings.SplitSeq(normalizeSQL(schema), ";") {
		words := strings.Fields(statement)
		if len(words) > 2 && words[0] == "create" && version >= tableVersions[words[2]] {
			all[words[2]] = strings.TrimSpace(statement)
		}
	}
	if version < checksumVersion {
		all["capture"] = strings.Replace(all["capture"], ", "+checksumColumn, "", 1)
	}
	return all
}

// normalizeSQL removes comments from SQL statements, converts them to lower
// case, and collapses white space. When SQLite adds or removes a column, it
// moves the white space before a comma or a parenthesis. The schema contains no
// quotes and no other kind of comment.
func normalizeSQL(statements string) string {
	var words []string
	for line := range strings.SplitSeq(statements, "\n") {
		text, _, _ := strings.Cut(line, "--")
		words = append(words, strings.Fields(text)...)
	}
	return strings.NewReplacer(" )", ")", " ,", ",").Replace(strings.ToLower(strings.Join(words, " ")))
}

// checkSchema returns an error unless the database contains exactly the tables
// and indexes of this program. A database from an untrusted source could
// contain triggers, views or expressions, which SQLite would execute.
func checkSchema(s *session, version int) error {
	want := schemaStatements(version)
	const query = "select type, name, tbl_name, coalesce(rootpage, 0), coalesce(sql, '') from sqlite_schema"
	err := s.ForEachRow(query, nil, func(r *sqlite.Row) error {
		var kind, name, table, text string
		var root int64
		if err := r.Scan(&kind, &name, &table, &root, &text); err != nil {
			return err
		}
		if kind == "index" && text == "" && root > 0 && strings.HasPrefix(name, "sqlite_autoindex_") {
			return nil // created automatically by the statement of its table
		}
		if root <= 0 || want[name] == "" || normalizeSQL(text) != want[name] {
			return fmt.Errorf("the database has the %s %q, which fetch did not create: "+
				"do not trust this archive", kind, name)
		}
		delete(want, name)
		return nil
	})
	if err != nil {
		return err
	}
	for name := range want {
		return errors.New("the database lacks the table or index " + name + ": do not trust this archive")
	}
	return nil
}
