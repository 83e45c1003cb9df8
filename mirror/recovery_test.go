package mirror_test

import (
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/anyurl/fetch/mirror"
	"github.com/anyurl/fetch/mirror/internal/frontier"
)

// TestNamesAfterKill checks that a run names the complete files that a killed
// run left in tmp/, even if their URLs are out of scope now. Only files that
// the database records get a name.
func TestNamesAfterKill(t *testing.T) {
	t.Parallel()
	s := sites["file"](t)
	o := options(t, s.urls...)
	run(t, o)
	const page = "pub/one.txt"
	inTree := filepath.Join(o.Dir, "tree/file/localhost", s.Root, page)
	whole := content(t, inTree)
	key := frontier.KeyOf("file://" + s.Root + "/" + page)
	label := hex.EncodeToString(key[:])
	for name, text := range map[string]string{
		label + ".7.part":           whole,
		label + ".8.part":           whole[1:] + "x",
		label + ".9.part":           whole[1:],
		label + label + ".1.part":   whole,
		"1.part":                    whole,
		"of somebody else":          whole,
		hex.EncodeToString(key[1:]): whole,
	} {
		tmp := filepath.Join(o.Dir, "tmp")
		if err := errors.Join(os.MkdirAll(tmp, 0o700), os.WriteFile(filepath.Join(tmp, name), []byte(text), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(inTree, []byte("the one before"), 0o666); err != nil {
		t.Fatal(err)
	}
	checkVerify(t, o.Dir) // only notes are expected
	o.Scope.Exclude = []*regexp.Regexp{regexp.MustCompile("one")}
	if _, err := mirror.Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if got := content(t, inTree); got != whole {
		t.Errorf("the tree holds %q", got)
	}
	if left, err := os.ReadDir(filepath.Join(o.Dir, "tmp")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("remaining files %v: %v", left, err)
	}
	checkVerify(t, o.Dir)
}
