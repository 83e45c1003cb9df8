package mirror_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/mirror"
	"github.com/anyurl/fetch/uri"
)

// TestRequired checks that Run rejects incomplete options before it creates a
// file.
func TestRequired(t *testing.T) {
	client := fetch.New(fetch.Options{})
	defer client.Close()
	dir := filepath.Join(t.TempDir(), "site")
	seeds := []uri.URI{uri.MustParse("http://h/")}
	for name, c := range map[string]struct {
		o    mirror.Options
		want fetch.Fault
	}{
		"no folder":          {mirror.Options{Client: client, Seeds: seeds}, fetch.Usage},
		"no client":          {mirror.Options{Dir: dir, Seeds: seeds}, fetch.Usage},
		"no seeds":           {mirror.Options{Dir: dir, Client: client}, fetch.Usage},
		"no URL":             {mirror.Options{Dir: dir, Client: client, Seeds: []uri.URI{{}}}, fetch.BadURL},
		"relative reference": {mirror.Options{Dir: dir, Client: client, Seeds: append(seeds, uri.MustParse("//h/x"))}, fetch.BadURL},
	} {
		if _, err := mirror.Run(t.Context(), c.o); fetch.FaultOf(err) != c.want {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("%s: the archive was created", name)
		}
	}
}
