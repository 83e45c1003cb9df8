package mirror_test

import (
	"testing"

	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/mirror"
)

// TestOtherSeeds checks that a command with other seeds completes the
// interrupted run, and that the objects of other seeds do not change.
func TestOtherSeeds(t *testing.T) {
	t.Parallel()
	s := peer.Nginx(t, peer.NginxOptions{})
	for _, name := range []string{"a", "b"} {
		s.Put(name+"/index.html", []byte("<a href=1><a href=2><a href=3>"))
		for _, page := range []string{"1", "2", "3"} {
			s.Put(name+"/"+page, []byte(name+page))
		}
	}
	first, second := options(t, "http://"+s.Addr+"/a/"), options(t, "http://"+s.Addr+"/b/")
	second.Dir = first.Dir
	stopped := first
	stopped.Limits.Files = 2
	if _, err := mirror.Run(t.Context(), stopped); err == nil {
		t.Fatal("no limit")
	}
	if sum := run(t, second); sum.New != 6 || sum.Pending != 0 {
		t.Errorf("continued by another command: %+v", sum)
	}
	if sum := run(t, second); sum.New != 0 || sum.Excluded != 4 || sum.Unchanged != 4 { // robots.txt does not exist, which is not counted
		t.Errorf("next run: %+v\n%s", sum, outcomes(t, first.Dir))
	}
	if sum := run(t, first); sum.New != 0 || sum.Excluded != 4 || sum.Unchanged != 4 {
		t.Errorf("first seeds: %+v\n%s", sum, outcomes(t, first.Dir))
	}
	if got := len(tree(t, first.Dir, "http")); got != 8 {
		t.Errorf("%d files", got)
	}
}
