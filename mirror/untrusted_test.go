package mirror_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/mirror"
)

// TestRepeatPrivate repeats a complete run at a private host without URLs on the
// command line. The Policy denies its URLs without a pause, the hint appears at
// the first one, and the archive does not change.
func TestRepeatPrivate(t *testing.T) {
	t.Parallel()
	const files = 30
	for _, scheme := range []string{"http", "gopher"} {
		t.Run(scheme, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newNetwork(t)
				at := w.name("intra.example", "10.0.0.7").String()
				site, menu := webSite{}, ""
				for n := range files {
					site["/"] += fmt.Sprintf("<a href=%d>", n)
					site[fmt.Sprintf("/%d", n)] = fmt.Sprint(n)
					menu += fmt.Sprintf("0%d\t/%d\tintra.example\t70\r\n", n, n)
				}
				if scheme == "http" {
					w.web("intra.example", site, at)
				} else {
					w.net.Serve(at+":70", faultnet.Script{faultnet.Do("gopher", func(c *faultnet.Conn) error {
						line, _ := c.ReadLine()
						text := menu + ".\r\n"
						if line = strings.TrimSpace(line); line != "" {
							text = line
						}
						_, err := c.Write([]byte(text))
						return err
					})})
				}
				o := w.options(scheme + "://intra.example/")
				o.Delay = 0
				if sum := run(t, o); sum.New < files+1 || sum.Failed > 0 {
					t.Fatalf("%+v", sum)
				}
				before := outcomes(t, o.Dir)
				w.requests()

				start := time.Now()
				repeated := o
				repeated.StoredSeeds = true
				hinted := false
				repeated.Event = func(e mirror.Event) {
					if e.State == "denied" && strings.HasSuffix(e.Note, "repeat the run with "+scheme+"://intra.example/") {
						hinted = true
					}
				}
				sum, err := mirror.Run(t.Context(), repeated)
				if took := time.Since(start); !errors.Is(err, fetch.Denied) || took > 2*time.Second || !hinted || len(w.dialed) > 0 {
					t.Errorf("took %v, hint %v, connections %v, error %v", took, hinted, w.dialed, err)
				}
				if sum.Excluded > 0 || sum.Pending == 0 {
					t.Errorf("%+v", sum)
				}
				report := content(t, filepath.Join(o.Dir, "report.txt"))
				if !regexp.MustCompile(fmt.Sprintf(`URLs not visited +%d\n`, sum.Pending)).MatchString(report) || !regexp.MustCompile(`Retries +0\n`).MatchString(report) {
					t.Errorf("%+v\n%s", sum, report)
				}

				if sum := run(t, o); sum.New > 0 || sum.Failed > 0 || sum.Excluded > 1 || sum.Pending > 0 { // robots.txt does not exist
					t.Errorf("with URLs: %+v", sum)
				}
				if after := strings.TrimPrefix(outcomes(t, o.Dir), "denied \n"); after != before {
					t.Errorf("before:\n%s\nafter:\n%s", before, after)
				}
				checkVerify(t, o.Dir)
			})
		})
	}
}
