package frontier

import (
	"database/sql"
	"slices"
	"strings"
)

// many is how many keys one statement looks up: a statement costs four times
// what a row does.
const many = 64

var lookupMany = "select key, id, state, run, host from url where key in (?" + strings.Repeat(", ?", many-1) + ")"

// ahead looks keys up that lookup is going to ask for. What it finds holds until
// then, for nobody changes a row that was not looked up.
func (t *tx) ahead(keys []Key) error {
	for chunk := range slices.Chunk(keys, many) {
		args := make([]any, many)
		for i := range args {
			key := chunk[min(i, len(chunk)-1)] // the last one again where there are fewer
			args[i] = key[:]
			if _, ok := t.looked[key]; !ok {
				t.looked[key] = urlRow{}
			}
		}
		err := t.each(lookupMany, args, func(r *sql.Rows) error {
			var key sql.RawBytes
			var u urlRow
			err := r.Scan(&key, &u.id, &u.state, &u.run, &u.host)
			if err == nil {
				t.looked[Key(key)] = u
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
