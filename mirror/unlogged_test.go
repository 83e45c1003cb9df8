package mirror_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/anyurl/fetch/internal/test/short"
	"github.com/anyurl/fetch/mirror"
)

// TestKillBeforeLog kills a mirror between the transaction of a visit and the
// line of the visit in crawl.jsonl. After the next run, crawl.jsonl must have
// each visit exactly once, and Recover must create the same archive from it.
func TestKillBeforeLog(t *testing.T) {
	t.Parallel()
	s := sites["file"](t)
	for _, form := range []string{"tree", "warc", "tree and warc"} {
		t.Run(form, func(t *testing.T) {
			short.Sample(t, 6)
			t.Parallel()
			sound := childTask{
				Dir: t.TempDir(), URLs: s.urls, Tree: strings.HasPrefix(form, "tree"), WARC: strings.HasSuffix(form, "warc"),
			}
			sound.finish(t)
			want := loggedVisits(t, sound.Dir)
			for n := 1; n <= len(want); n += 2 {
				killed := sound
				killed.Dir, killed.KillAt = t.TempDir(), n
				if err := killed.start(t).Wait(); err == nil {
					t.Fatalf("the process was not killed at event %d", n)
				}
				killed.KillAt = 0
				killed.finish(t)
				if got := loggedVisits(t, killed.Dir); !slices.Equal(got, want) {
					t.Errorf("kill at event %d: crawl.jsonl has the visits\n%q\nwant\n%q", n, got, want)
				}
				checkVerify(t, killed.Dir)
			}
		})
	}
}

// TestRecoverBeforeLog recovers an intact database whose last visits are not in
// crawl.jsonl yet.
func TestRecoverBeforeLog(t *testing.T) {
	t.Parallel()
	s := sites["file"](t)
	o := childTask{Dir: t.TempDir(), URLs: s.urls, Tree: true, KillAt: 1}
	o.start(t).Wait()
	before := len(loggedVisits(t, o.Dir))
	if _, err := mirror.Recover(t.Context(), o.Dir, mirror.RecoverOptions{Force: true, Client: options(t, s.urls...).Client}); err != nil {
		t.Fatal(err)
	}
	if after := len(loggedVisits(t, o.Dir)); after <= before {
		t.Errorf("crawl.jsonl has %d visits before the recovery and %d after it", before, after)
	}
}

// loggedVisits returns the states and URLs of the visits in crawl.jsonl, sorted.
func loggedVisits(t *testing.T, dir string) (visits []string) {
	t.Helper()
	for _, e := range events(t, dir) {
		if e.URL != "" {
			visits = append(visits, fmt.Sprint(e.Run, " ", e.State, " ", e.URL))
		}
	}
	slices.Sort(visits)
	return visits
}
