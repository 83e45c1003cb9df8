package frontier

import (
	"database/sql"
	"slices"
	"strings"
)

// many is how many keys one statement looks up: a statement costs four times
// what a row does.
const many = 64

var (
	lookupMany = "select key, id, state, run, host from url where key in " + ofMany
	namedMany  = "select fold, key from name where fold in " + ofMany
	ofMany     = "(?" + strings.Repeat(", ?", many-1) + ")"
)

// ahead looks keys up that lookup is going to ask for. What it finds holds until
// then, for nobody changes a row that was not looked up.
func (t *tx) ahead(keys []Key) error {
	for _, k := range keys {
		if _, ok := t.looked[k]; !ok {
			t.looked[k] = urlRow{}
		}
	}
	return eachOf(t.session, lookupMany, keys, func(k Key) any { return k[:] }, func(r *sql.Rows) error {
		var key sql.RawBytes
		var u urlRow
		err := r.Scan(&key, &u.id, &u.state, &u.run, &u.host)
		if err == nil {
			t.looked[Key(key)] = u
		}
		return err
	})
}

// eachOf calls f at every row that query, one ofMany, finds for keys.
func eachOf[K any](s *session, query string, keys []K, column func(K) any, f func(*sql.Rows) error) error {
	args := make([]any, many)
	for chunk := range slices.Chunk(keys, many) {
		for i := range args {
			args[i] = column(chunk[min(i, len(chunk)-1)]) // the last one again where there are fewer
		}
		if err := s.each(query, args, f); err != nil {
			return err
		}
	}
	return nil
}
