package postgres

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/anyurl/fetch/mirror/internal/frontier"
)

// schemaText creates the tables of version 1. The file migrations/N.sql changes
// the tables of version N-1 to version N.
//
//go:embed schema.sql
var schemaText string

//go:embed migrations
var migrations embed.FS

// schemaVersion is the version of the tables that this program reads and writes.
const schemaVersion = 8

// treeLayout is the version of the rules that determine paths in the tree, for
// a new database.
const treeLayout = 2

// schemaName returns the name of the PostgreSQL schema from the parameter
// search_path. There is no default, because other roles may own objects in the
// schema public.
func schemaName(path string) (string, error) {
	name := strings.Trim(path, `"`)
	switch {
	case path == "":
		return "", errors.New("frontier: the URL of the database names no schema: add ?search_path=NAME")
	case name == "" || strings.ContainsAny(name, "\",\x00 "):
		return "", fmt.Errorf("frontier: search_path=%q is not the name of one schema", path)
	}
	return name, nil
}

// searchPath returns the value of search_path for a schema. Without pg_temp,
// temporary tables would come first.
func searchPath(schema string) string { return quoteName(schema) + ", pg_temp" }

func quoteName(name string) string { return pgx.Identifier{name}.Sanitize() }

// migrate creates the schema and its tables if they are missing and e.mustExist
// is false. It changes older tables to the current version. It returns an error
// if a newer version of this program has created them. Only one worker migrates
// at a time.
func (e *engine) migrate(ctx context.Context, schema string) error {
	return pgx.BeginFunc(ctx, e.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "set local search_path to pg_catalog"); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, lockCrawl, schema); err != nil {
			return err
		}
		var exists, used, ours, permitted bool
		var role string
		err := tx.QueryRow(ctx, `select exists (select from pg_namespace where nspname = $1),
			exists (select from pg_tables where schemaname = $1),
			exists (select from pg_tables where schemaname = $1 and tablename = 'book'),
			coalesce((select has_schema_privilege(oid, 'usage') from pg_namespace where nspname = $1), true), current_user`,
			schema).Scan(&exists, &used, &ours, &permitted, &role)
		if err == nil && !permitted {
			err = fmt.Errorf("the role %s has no privilege USAGE on the schema %s", role, schema)
		}
		if err == nil {
			err = checkOwner(ctx, tx, schema)
		}
		if err == nil {
			_, err = tx.Exec(ctx, "select set_config('search_path', $1, true)", searchPath(schema))
		}
		switch {
		case err != nil:
			return err
		case ours:
			return upgrade(ctx, tx)
		case e.mustExist:
			return fmt.Errorf("schema %s: %w", schema, frontier.ErrNoCrawl)
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
		if _, err = tx.Exec(ctx, "insert into version values (1, $1)", treeLayout); err != nil {
			return err
		}
		if err = upgrade(ctx, tx); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "set local search_path to pg_catalog"); err != nil {
			return err
		}
		return checkOwner(ctx, tx, schema) // default privileges apply to the new tables
	})
}

// upgrade changes the tables to the current version.
func upgrade(ctx context.Context, tx pgx.Tx) error {
	var version int
	err := tx.QueryRow(ctx, "select schema from version").Scan(&version)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return fmt.Errorf("%w: the table version is empty", frontier.ErrDamaged)
	case err == nil && (version < 1 || version > schemaVersion):
		return fmt.Errorf("the database has schema version %d: this version of fetch supports versions up to %d", version, schemaVersion)
	case err != nil || version == schemaVersion:
		return err
	}
	for n := version + 1; n <= schemaVersion; n++ {
		text, err := migrations.ReadFile(fmt.Sprintf("migrations/%d.sql", n))
		if err == nil {
			_, err = tx.Exec(ctx, string(text))
		}
		if err != nil {
			return fmt.Errorf("migration to schema version %d: %w", n, err)
		}
	}
	if _, err = tx.Exec(ctx, "update seal set rows = null"); err != nil { // the digest is outdated
		return err
	}
	_, err = tx.Exec(ctx, "update version set schema = $1", schemaVersion)
	return err
}
