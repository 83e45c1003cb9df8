package sqlite

import (
	"database/sql"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"zombiezen.com/go/sqlite"
)

// A Row is the current row of a query.
type Row struct {
	stmt *sqlite.Stmt
	busy bool
}

// reset prepares the statement for its next execution. It ignores the error of
// Reset, which repeats the error of the last step.
func (r *Row) reset() {
	r.stmt.Reset()
	r.busy = false
}

// bind sets the parameters of the statement. Supported types are integers,
// strings, blobs, booleans and sql.NullInt64. A nil blob is stored as NULL.
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
			return fmt.Errorf("sqlite: argument %d has an unsupported type", n)
		}
	}
	return nil
}

// Raw is a blob or a text. A Scan into a Raw reuses its memory.
type Raw []byte

// Scan copies the columns of the row to the variables. It converts NULL to a
// zero value.
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
			return fmt.Errorf("sqlite: variable %d has an unsupported type", n+1)
		}
	}
	return nil
}

// Bytes returns the total size of the texts and blobs of the row.
func (r *Row) Bytes() (n int) {
	for i := range r.stmt.DataCount() {
		if kind := r.stmt.ColumnType(i); kind == sqlite.TypeText || kind == sqlite.TypeBlob {
			n += r.stmt.ColumnLen(i)
		}
	}
	return n
}

// Values returns the values of all columns: nil, an int64, a string or a []byte.
func (r *Row) Values() ([]any, error) {
	values := make([]any, r.stmt.DataCount())
	for n := range values {
		switch r.stmt.ColumnType(n) {
		case sqlite.TypeNull:
		case sqlite.TypeInteger:
			values[n] = r.stmt.ColumnInt64(n)
		case sqlite.TypeText:
			values[n] = r.stmt.ColumnText(n)
		case sqlite.TypeBlob:
			blob := make([]byte, r.stmt.ColumnLen(n))
			r.stmt.ColumnBytes(n, blob)
			values[n] = blob
		default:
			return nil, fmt.Errorf("sqlite: column %d has an unsupported type", n+1)
		}
	}
	return values, nil
}

// AppendColumns appends the types, lengths and values of all columns to b.
// Different rows produce different bytes.
func (r *Row) AppendColumns(b []byte) []byte {
	for n := range r.stmt.DataCount() {
		kind := r.stmt.ColumnType(n)
		b = append(b, byte(kind))
		switch kind {
		case sqlite.TypeNull:
		case sqlite.TypeInteger:
			b = binary.BigEndian.AppendUint64(b, uint64(r.stmt.ColumnInt64(n)))
		case sqlite.TypeFloat:
			b = binary.BigEndian.AppendUint64(b, math.Float64bits(r.stmt.ColumnFloat(n)))
		default:
			size := r.stmt.ColumnLen(n)
			b = binary.BigEndian.AppendUint64(b, uint64(size))
			b = slices.Grow(b, size)[:len(b)+size]
			r.stmt.ColumnBytes(n, b[len(b)-size:])
		}
	}
	return b
}
