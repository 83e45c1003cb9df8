package uri

import (
	"bufio"
	"encoding/json"
	"os"
	"testing"
)

// A row is one line of testdata/*.jsonl; see testdata/README.md.
type row struct {
	ID, Kind, Class               string
	Input, Production             string
	Base, Ref, Target, A, B       string
	Level                         string
	Expected, Draft               json.RawMessage
	URI                           string
}

func (r *row) UnmarshalJSON(b []byte) error {
	type plain row
	var x struct {
		*plain
		DraftExpected json.RawMessage `json:"draft_expected"`
	}
	x.plain = (*plain)(r)
	err := json.Unmarshal(b, &x)
	r.Draft = x.DraftExpected
	return err
}

func rows(t testing.TB, name string) (list []row) {
	t.Helper()
	f, err := os.Open("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := bufio.NewScanner(f)
	for s.Scan() {
		var r row
		if err := json.Unmarshal(s.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		list = append(list, r)
	}
	if s.Err() != nil || len(list) == 0 {
		t.Fatalf("%s: %d rows, %v", name, len(list), s.Err())
	}
	return list
}
