package main

// tally is the exit code of many: theirs where they failed alike, else that
// of mixed failures. Zeros do not count.
type tally struct{ code int }

func (t *tally) add(code int) {
	switch t.code {
	case 0, code:
		t.code = code
	default:
		t.code = mixed
	}
}

func (t *tally) err() error {
	if t.code == 0 {
		return nil
	}
	return said{t.code}
}
