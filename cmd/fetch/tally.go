package main

import "github.com/anyurl/fetch/fetch"

// tally is the exit code of many: theirs where they failed alike, else that
// of mixed failures. A wrong call, 2, is one only where nothing went well: the
// bad line of a list does not undo the others.
type tally struct {
	code int
	well bool
}

func (t *tally) add(code int) {
	switch {
	case code == 0:
		t.well = true
	case t.code == 0 || t.code == code:
		t.code = code
	default:
		t.code = mixed
	}
}

func (t *tally) err() error {
	switch {
	case t.code == 0:
		return nil
	case t.code == exitCodes[fetch.Usage] && t.well:
		return said{mixed}
	}
	return said{t.code}
}
