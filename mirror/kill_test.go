package mirror_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/testdir"
	"github.com/anyurl/fetch/mirror"
	"github.com/anyurl/fetch/schemes"
	"github.com/anyurl/fetch/schemes/nntp"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/warc"
)

// childOrder is the environment variable with the task of a process to be
// killed.
const childOrder = "MIRROR_TEST_ORDER"

type childTask struct {
	Dir        string
	URLs       []string
	Tree, WARC bool
	Heal       bool   // call Heal instead of Run
	Recover    bool   // if true, recover the archive instead of a run
	Export     string // if not empty, export the archive to this directory instead of a run
	Browse     string // if not empty, write the browsable copy to this directory instead of a run
	KillAt     int    // if not 0, the process kills itself at this event of a run
}

func TestMain(m *testing.M) {
	text := os.Getenv(childOrder)
	if text == "" {
		os.Exit(testdir.Main(m))
	}
	var o childTask
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		panic(err)
	}
	if err := o.run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func (o childTask) options() mirror.Options {
	out := mirror.Options{Dir: o.Dir, Tree: o.Tree, PerHost: 2, Tries: 2}
	if o.WARC {
		out.WARC = &mirror.WARC{Size: 20 << 10} // starts a new file every few batches
	}
	for _, u := range o.URLs {
		out.Seeds = append(out.Seeds, uri.MustParse(u))
	}
	if o.KillAt > 0 {
		out.Event = killAt(o.KillAt)
	}
	return out
}

// killAt returns a function that kills this process at its nth call. A run calls
// Options.Event after the transaction of a visit.
func killAt(n int) func(mirror.Event) {
	return func(mirror.Event) {
		if n--; n > 0 {
			return
		}
		if p, err := os.FindProcess(os.Getpid()); err == nil {
			p.Kill()
		}
		select {} // until the signal arrives
	}
}

func (o childTask) run() error {
	if o.Heal {
		_, err := mirror.Heal(contextOfChild, o.Dir, mirror.HealOptions{MaxLost: 1})
		return err
	}
	opts := o.options()
	opts.Client = fetch.New(fetch.Options{Policy: fetch.Typed()}, schemes.All(schemes.Options{NNTP: nntp.Options{}})...)
	defer opts.Client.Close()
	var err error
	switch {
	case o.Export != "":
		a, err := warc.Open(o.Dir)
		if err != nil {
			return err
		}
		defer a.Close()
		_, err = mirror.Export(contextOfChild, o.Export, mirror.ExportOptions{Archive: a, Client: opts.Client})
		return err
	case o.Browse != "":
		err = mirror.Browse(contextOfChild, opts, o.Browse)
	case o.Recover:
		_, err = mirror.Recover(contextOfChild, o.Dir, mirror.RecoverOptions{Client: opts.Client})
	default:
		_, err = mirror.Run(contextOfChild, opts)
	}
	return err
}

// command returns the command of a process that runs o.
func (o childTask) command(t testing.TB) *exec.Cmd {
	t.Helper()
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(os.Args[0])
	// No delay at the exit of a race-enabled process.
	c.Env = append(os.Environ(), childOrder+"="+string(text), "GORACE=atexit_sleep_ms=0")
	return c
}

// start starts a process that runs o.
func (o childTask) start(t testing.TB) *exec.Cmd {
	t.Helper()
	c := o.command(t)
	c.Stderr = os.Stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	return c
}

// finish runs o without interruption and returns its duration.
func (o childTask) finish(t testing.TB) time.Duration {
	t.Helper()
	began := time.Now()
	if err := o.start(t).Wait(); err != nil {
		t.Fatal(err)
	}
	return time.Since(began)
}

// runs returns the number of runs in the archive of o.
func (o childTask) runs(t testing.TB) int64 {
	t.Helper()
	s, err := mirror.Open(mirror.Location{Dir: o.Dir}).Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s.Run
}

// kills is the number of kills for each mirror of TestKill.
var kills = 3

// TestKill kills mirrors of real servers at random times. The archive after the
// last run must equal the archive of a mirror that was not killed.
func TestKill(t *testing.T) {
	t.Parallel()
	for name, start := range sites {
		for _, form := range []string{"tree", "warc", "tree and warc"} {
			if name == "file" && form != "tree and warc" && kills < 10 {
				continue
			}
			t.Run(name+", "+form, func(t *testing.T) {
				t.Parallel()
				testKill(t, start(t), form, len(source))
			})
		}
	}
}

// testKill mirrors s into a form of archive, such as "tree and warc", and kills
// the mirror. The archive must have at least the given number of objects.
func testKill(t *testing.T, s site, form string, objects int) {
	t.Helper()
	sound := childTask{
		Dir: t.TempDir(), URLs: s.urls, Tree: strings.HasPrefix(form, "tree"),
		WARC: strings.HasSuffix(form, "warc"),
	}
	whole := sound.finish(t)
	looks := []string{"", sound.summary(t)} // expected summaries by the number of runs
	if strings.Count(looks[1], "\n") < objects {
		t.Fatalf("archive with too few objects: %s", looks[1])
	}
	for left := kills; left > 0; {
		killed := sound
		killed.Dir = t.TempDir()
		left -= killed.kill(t, left, whole)
		for int64(len(looks)) <= killed.runs(t) { // the process was killed after the end of a run
			sound.finish(t)
			looks = append(looks, sound.summary(t))
		}
		if got, want := killed.summary(t), looks[killed.runs(t)]; got != want {
			t.Fatalf("after kills:\n%s", differ(got, want))
		}
	}
}

// kill runs o until it is complete, and kills it up to limit times at a random
// time within duration. It returns the number of kills.
func (o childTask) kill(t *testing.T, most int, whole time.Duration) (kills int) {
	t.Helper()
	for kills < most {
		c := o.start(t)
		timer := time.AfterFunc(rand.N(whole), func() { c.Process.Kill() })
		err := c.Wait()
		timer.Stop()
		if err == nil {
			return kills // the process ended before the kill
		}
		kills++
	}
	o.finish(t)
	return kills
}

// summary lists the files of the tree, the records of the WARC files, and the
// findings of Verify.
func (o childTask) summary(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	for f, err := range mirror.Open(mirror.Location{Dir: o.Dir}).Verify(t.Context()) {
		if err != nil {
			fmt.Fprintln(&b, err)
		} else {
			fmt.Fprintln(&b, f.Path, f.Text)
		}
	}
	fmt.Fprint(&b, digests(tree(t, o.Dir, "")))
	names, err := filepath.Glob(filepath.Join(o.Dir, "warc", "*"))
	if err != nil {
		t.Fatal(err)
	}
	records := map[string]string{}
	for _, name := range names {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for l, err := range warc.Lines(name, f) {
			if err != nil {
				t.Fatal(err)
			}
			// The order of two copies of a content, and the time of
			// a listing, are random.
			records[l.URL+" "+l.Digest] += "x"
		}
	}
	fmt.Fprint(&b, digests(records))
	return b.String()
}

// differ returns the lines that only one of two texts contains.
func differ(got, want string) string {
	var b strings.Builder
	for _, side := range []struct{ sign, a, b string }{{"+", got, want}, {"-", want, got}} {
		for line := range strings.Lines(side.a) {
			if !strings.Contains(side.b, line) {
				fmt.Fprint(&b, side.sign, line)
			}
		}
	}
	return b.String()
}
