package fetch

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/anyurl/fetch/uri"
)

// The following functions give tests access to the rules of the Policy.

func (p *Policy) PortVerdict(s Scheme, port uint16, typed bool) string {
	rule, _ := p.portVerdict(&s, port, typed)
	return rule
}

func (p *Policy) JudgeTyped(u uri.URI, s Scheme) error {
	_, err := p.authorize(&Request{URL: u}, &s, nil, Origin{})
	return err
}

func (p *Policy) JudgeReferral(source, target Scheme, port uint16) error {
	return p.checkReferral(&source, &target, port)
}

// Rows returns the rows of a file of testdata.
func Rows[T any](t *testing.T, name string) (all []T) {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var row T
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		all = append(all, row)
	}
	if len(all) == 0 {
		t.Fatalf("%s is empty", name)
	}
	return all
}
