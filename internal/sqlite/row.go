package sqlite

import (
	"database/sql"
	"fmt"
	"slices"

	"zombiezen.com/go/sqlite"
)

// Row is the row at which ForEachRow is.
type Row struct {
	stmt *sqlite.Stmt
	busy bool
}

// end makes the statement ready for other arguments. Its error is that of the
// last step.
func (r *Row) end() {
	r.stmt.Reset()
	r.busy = false
}

// bind sets the parameters: integers, texts, blobs, booleans and what may be
// null. A nil blob is null.
func (r *Row) bind(args []any) error {
	if n := r.stmt.BindParamCount(); n != len(args) {
		return fmt.Errorf("sqlite: %d arguments for %d parameters", len(args), n)
	}
	for i, arg := range args {
		n := i + 1
		switch v := arg.(type) {
		case nil:
			r.stmt.BindNull(n)
		case int64:
			r.stmt.BindInt64(n, v)
		case int:
			r.stmt.BindInt64(n, int64(v))
		case bool:
			r.stmt.BindBool(n, v)
		case sql.NullInt64:
			if v.Valid {
				r.stmt.BindInt64(n, v.Int64)
			} else {
				r.stmt.BindNull(n)
			}
		case string:
			r.stmt.BindText(n, v)
		case []byte:
			if v != nil {
				r.stmt.BindBytes(n, v)
			} else {
				r.stmt.BindNull(n)
			}
		default:
			return fmt.Errorf("sqlite: no parameter can be of the type of number %d", n)
		}
	}
	return nil
}

// Raw is a blob or a text whose memory the next Scan of it uses again.
type Raw []byte

// Scan reads the columns. A null is a zero value.
func (r *Row) Scan(to ...any) error {
	if n := r.stmt.DataCount(); n != len(to) {
		return fmt.Errorf("sqlite: %d columns for %d variables", n, len(to))
	}
	for n, to := range to {
		switch to := to.(type) {
		case *int64:
			*to = r.stmt.ColumnInt64(n)
		case *int:
			*to = r.stmt.ColumnInt(n)
		case *uint8:
			*to = uint8(r.stmt.ColumnInt64(n))
		case *bool:
			*to = r.stmt.ColumnBool(n)
		case *sql.NullInt64:
			*to = sql.NullInt64{Int64: r.stmt.ColumnInt64(n), Valid: !r.stmt.ColumnIsNull(n)}
		case *string:
			*to = r.stmt.ColumnText(n)
		case *[]byte:
			*to = make([]byte, r.stmt.ColumnLen(n))
			r.stmt.ColumnBytes(n, *to)
		case *Raw:
			*to = slices.Grow((*to)[:0], r.stmt.ColumnLen(n))[:r.stmt.ColumnLen(n)]
			r.stmt.ColumnBytes(n, *to)
		default:
			return fmt.Errorf("sqlite: no column can be read into the type of number %d", n+1)
		}
	}
	return nil
}
