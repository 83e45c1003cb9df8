// Package postgres stores the frontier of a crawl in a PostgreSQL database, so
// that workers on several machines can share the crawl. It is not part of package
// mirror, so that other programs do not link a PostgreSQL client.
package postgres

import (
	"github.com/anyurl/fetch/mirror"
	"github.com/anyurl/fetch/mirror/internal/frontier/postgres"
)

// New returns the frontier in the PostgreSQL schema with the given URL, such as
// "postgres://USER@HOST/DATABASE?search_path=SCHEMA". It does not connect to the
// server. The environment variables of libpq, such as PGHOST and PGPASSWORD,
// supply missing values.
func New(url string) mirror.Frontier { return postgres.New(url) }
