package postgres

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/anyurl/fetch/internal/frontier"
)

//go:embed schema.sql
var schemaText string

// schemaVersion is the version of the tables that this program writes.
const schemaVersion = 1

// treeLayout is the version of the rules for paths of the tree in a new database.
const treeLayout = 2

// schemaName returns the name of the PostgreSQL schema from the parameter
// search_path. The default is "public".
func schemaName(path string) (string, error) {
	name := strings.Trim(path, `"`)
	switch {
	case path == "":
		return "public", nil
	case name == "" || strings.ContainsAny(name, "\",\x00 "):
		return "", fmt.Errorf("frontier: search_path=%q is not the name of one schema", path)
	}
	return name, nil
}

func quoteName(name string) string { return pgx.Identifier{name}.Sanitize() }

// migrate creates the schema and its tables if they are missing. It returns an
// error if a newer version of this program has created them. Only one worker
// migrates at a time.
func (e *engine) migrate(ctx context.Context, schema string) error {
	return pgx.BeginFunc(ctx, e.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, lockCrawl, schema); err != nil {
			return err
		}
		var exists, used, ours bool
		err := tx.QueryRow(ctx, `select exists (select from pg_namespace where nspname = $1),
			exists (select from pg_tables where schemaname = $1),
			exists (select from pg_tables where schemaname = $1 and tablename = 'book')`, schema).Scan(&exists, &used, &ours)
		switch {
		case err != nil:
			return err
		case ours:
			return checkVersion(ctx, tx)
		case used:
			return fmt.Errorf("the schema %s contains tables of another program", schema)
		case !exists:
			if _, err := tx.Exec(ctx, "create schema "+quoteName(schema)); err != nil {
				return err
			}
		}
		if _, err := tx.Exec(ctx, schemaText); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, "insert into tally (slot) select generate_series(0, $1 - 1)", slots)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, "insert into version values ($1, $2)", schemaVersion, treeLayout)
		return err
	})
}

func checkVersion(ctx context.Context, tx pgx.Tx) error {
	var version int
	err := tx.QueryRow(ctx, "select schema from version").Scan(&version)
	if errors.Is(err, pgx.ErrNoRows) {
		return fmt.Errorf("%w: the table version is empty", frontier.ErrDamaged)
	}
	if err == nil && version != schemaVersion {
		err = fmt.Errorf("the database has schema version %d: this version of fetch supports version %d", version, schemaVersion)
	}
	return err
}
