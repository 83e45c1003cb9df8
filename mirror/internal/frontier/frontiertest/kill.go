package frontiertest

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/anyurl/fetch/mirror/internal/frontier"
)

// environ is the name of the environment variable that contains the location of
// the frontier. If the variable is set, the process runs victim.
const environ = "FRONTIERTEST_PLACE"

// Main runs victim and never returns in a child process that testKill has
// started. In other processes, Main does nothing. TestMain must call Main.
func Main(e Engine) {
	if place := os.Getenv(environ); place != "" {
		fmt.Fprintln(os.Stderr, victim(e, place))
		os.Exit(1)
	}
}

const (
	batch  = 16
	record = 100 // size of a WARC record, in bytes
)

// victim completes batches of results until the process is killed. It prints
// the number of each completed batch.
func victim(e Engine, place string) error {
	ctx := context.Background()
	f, err := e.Open(ctx, place, time.Now)
	if err != nil {
		return err
	}
	if _, _, err = f.Begin(ctx, nil); err != nil {
		return err
	}
	ends, err := f.FileEnds(ctx)
	if err != nil {
		return err
	}
	if err = f.Evict(ctx); err != nil {
		return err
	}
	if _, err = f.Add(ctx, []frontier.Item{url("h", -1)}); err != nil {
		return err
	}
	ls, err := f.Claim(ctx, "victim", 1, 1, time.Hour)
	if err != nil || len(ls) != 1 {
		return fmt.Errorf("claimed %d: %w", len(ls), err)
	}
	for n := int(ends["w"] / (batch * record)); ; n++ {
		rs, ends := batchOf(n)
		if err := f.Complete(ctx, ls[0], rs, ends); err != nil {
			return err
		}
		fmt.Println(n)
	}
}

// batchOf returns the batch with the number n. It consists of results for new
// items, with all fields set.
func batchOf(n int) (rs []frontier.Result, ends map[string]int64) {
	for i := n * batch; i < (n+1)*batch; i++ {
		item := url("h", i)
		c := newCapture(item, byte(i))
		c.File, c.Offset, c.Length, c.Path = "w", int64(i)*record, record, item.URL
		child := url("child", i)
		child.NotBefore = time.Date(3000, 1, 1, 0, 0, 0, 0, time.UTC) // so that Claim returns only host h
		rs = append(rs, frontier.Result{Item: item, State: frontier.Done, Capture: c, Children: []frontier.Item{child},
			Names: []frontier.Name{{Fold: item.URL, Key: item.Key}}})
	}
	return rs, map[string]int64{"w": int64(n+1) * batch * record}
}

// testKill repeatedly starts a process that writes to a frontier, kills the
// process and checks the frontier.
func testKill(t *testing.T, e Engine, times int) {
	if !e.Lasts {
		t.Skip("this engine has no file")
	}
	place := e.Place(t)
	for round := range times {
		last := killVictim(t, place, 20+round*17%40)
		tr := &trial{TB: t, clock: newClock(), ctx: t.Context(), place: place}
		tr.open(e)
		tr.checkBatches(last)
		tr.must(tr.Close())
		if t.Failed() {
			t.Fatalf("after kill %d", round+1)
		}
	}
}

// killVictim starts a process that runs victim and kills it after the given
// number of batches. It returns the number of the last batch that the process
// has printed.
func killVictim(t *testing.T, place string, batches int) (last int) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), environ+"="+place)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	printed := 0
	// The process may print more batches before it dies, so its output is read
	// to the end.
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if last, err = strconv.Atoi(lines.Text()); err != nil {
			t.Fatalf("the victim printed %q; TestMain must call Main", lines.Text())
		}
		if printed++; printed == batches {
			cmd.Process.Kill()
		}
	}
	if printed < batches {
		t.Fatalf("the victim exited after %d batches", printed)
	}
	return last
}

// checkBatches checks that the frontier contains all batches up to last. The
// following batch must be either complete or missing.
func (tr *trial) checkBatches(last int) {
	tr.Helper()
	ends, err := tr.FileEnds(tr.ctx)
	tr.must(err)
	batches := int(ends["w"] / (batch * record))
	if batches != last+1 && batches != last+2 {
		tr.Errorf("%d batches are stored; %d were printed", batches, last+1)
	}
	want := batches * batch
	var done, pending, captures int
	for _, err := range tr.Items(tr.ctx, frontier.Done) {
		tr.must(err)
		done++
	}
	for _, err := range tr.Items(tr.ctx, frontier.Pending) {
		tr.must(err)
		pending++
	}
	for c, err := range tr.Captures(tr.ctx) {
		tr.must(err)
		if c.Offset != int64(captures)*record {
			tr.Errorf("capture %d is at %d", captures, c.Offset)
		}
		captures++
	}
	if done != want || pending != want+1 || captures != want {
		tr.Errorf("%d done, %d pending, %d captures; want %d, with one more pending", done, pending, captures, want)
	}
	st := tr.stats()
	if st.States[frontier.Done] != int64(done) || st.States[frontier.Pending] != int64(pending) || st.Captures != int64(captures) {
		tr.Errorf("Stats: %+v", st)
	}
	var folds []string
	for i := range want {
		folds = append(folds, url("h", i).URL)
	}
	if names, err := tr.NameOwners(tr.ctx, folds); err != nil || len(names) != want {
		tr.Errorf("%d names, %v; want %d", len(names), err, want)
	}
}
