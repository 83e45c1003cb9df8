package schemetest

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/report"
	"github.com/anyurl/fetch/internal/test/testdir"
	"github.com/anyurl/fetch/save"
)

// updateOutages is the flag that writes the tables of outages.
var updateOutages = flag.Bool("update-outages", false, "write testdata/outages.tsv")

// An Outage describes a transfer that is repeated with each outage of the network
// in each phase of its protocol.
type Outage struct {
	Name    string // name of the protocol in the table, such as "ftp, listing"
	Schemes func() []fetch.Scheme
	Serve   func(*faultnet.Network) (closeServer func())
	Client  func(*fetch.Options) // changes the options of the Client; may be nil
	URL     string
	Body    string

	// Phases names the responses on each connection, in order.
	Phases [][]string
	// OpenEnd means that the end of the connection is the only end of the body,
	// so that the protocol cannot report a truncated body.
	OpenEnd bool
	// Packets means that the protocol uses datagrams, which cannot be cut.
	Packets bool
	// Multiplexed means that a request that fails does not end its connection, so
	// that the next request can fail too.
	Multiplexed bool
	// Session means that the URL names a session, which ends at any time.
	Session bool
	// Input is written to a session.
	Input string
}

// Limits of the time of a transfer with an outage.
const (
	silentLimit = 2*time.Minute + 5*time.Second // no more data arrives
	brokenLimit = 2 * time.Second               // the end of the connection arrives
)

// RunOutages runs each transfer with each outage in each phase, and compares the
// results with testdata/outages.tsv. It also checks rules for all protocols:
//
//   - A transfer succeeds with the complete object, or fails with a Fault that is
//     transient.
//   - It ends within a limit that depends on the outage.
//   - No incomplete object gets its final name.
//   - The next request of the same Client succeeds.
//
// Each line of the table has the protocol, the phase, and the result for each
// element of [faultnet.Outages].
func RunOutages(t *testing.T, outages ...Outage) {
	var table strings.Builder
	runs := 0
	for _, o := range outages {
		t.Run(o.Name, func(t *testing.T) { runs++; table.WriteString(o.run(t)) })
	}
	if runs < len(outages) || strings.Contains(table.String(), notRun) {
		return // the flag -run selects some of the tests
	}
	const file = "testdata/outages.tsv"
	if *updateOutages {
		if err := errors.Join(os.MkdirAll("testdata", 0o777), os.WriteFile(file, []byte(table.String()), 0o666)); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	figures := report.Start(t, "networks that die")
	figures.Add("protocols", len(outages))
	for row := range strings.Lines(table.String()) {
		cells := strings.Split(strings.TrimSpace(row), "\t")[2:]
		figures.Add("outages in a phase of a protocol", len(slices.DeleteFunc(cells, func(c string) bool { return c == "-" })))
	}
	if got := table.String(); got != string(want) && !t.Failed() {
		t.Errorf("the results differ from %s; -update-outages writes it\n got\n%s\nwant\n%s", file, got, want)
	}
}

// notRun is the cell of a transfer that the flags -run and -short did not select.
const notRun = "not run"

// run returns the lines of the table for o.
func (o *Outage) run(t *testing.T) string {
	var intact [][]int
	o.trial(t, faultnet.CutOff, faultnet.Place{}, nil, func(w *faultnet.Wires, r outageResult) {
		intact = w.Lengths()
		if r.err != nil || r.body != o.Body {
			t.Errorf("without an outage: %q, %v, want %q", r.body, r.err, o.Body)
		}
	})
	if t.Failed() {
		t.FailNow()
	}
	o.checkPhases(t, intact)
	var table strings.Builder
	for c, turns := range intact {
		for turn := range len(turns) + 1 {
			for _, part := range o.parts(turn, len(turns)) {
				at := faultnet.Place{Conn: c + 1, Turn: turn, Part: part}
				cells := []string{o.Name, o.phase(at)}
				for _, outage := range faultnet.Outages() {
					cells = append(cells, o.cell(t, outage, at, intact))
				}
				fmt.Fprintln(&table, strings.Join(cells, "\t"))
			}
		}
	}
	return table.String() + o.idle(t, intact)
}

func (o *Outage) checkPhases(t *testing.T, intact [][]int) {
	t.Helper()
	ok := len(intact) == len(o.Phases)
	for c := range min(len(intact), len(o.Phases)) {
		ok = ok && len(intact[c]) == len(o.Phases[c])
	}
	if !ok {
		t.Fatalf("the responses have the lengths %v, their names are %q", intact, o.Phases)
	}
}

// parts returns the parts of a response in which outages begin.
func (o *Outage) parts(turn, turns int) []faultnet.Part {
	switch {
	case turn == 0, turn < turns && o.Packets:
		return []faultnet.Part{faultnet.Before}
	case o.Packets:
		return []faultnet.Part{faultnet.Before, faultnet.After}
	case turn == turns:
		return []faultnet.Part{faultnet.Before, faultnet.Begun, faultnet.Within, faultnet.After}
	}
	return []faultnet.Part{faultnet.Before, faultnet.Begun, faultnet.Within}
}

// phase returns the name of a Place, such as "greeting: half".
func (o *Outage) phase(at faultnet.Place) string {
	connection := ""
	if at.Conn > 1 {
		connection = fmt.Sprintf("connection %d, ", at.Conn)
	}
	if at.Turn == 0 {
		return connection + "connect"
	}
	part := [...]string{"before", "first byte", "half", "end"}[at.Part]
	return connection + o.Phases[at.Conn-1][at.Turn-1] + ": " + part
}

// skipsOutage reports whether transfers with an outage are omitted with -short.
// The table is then not compared, but the rules for all protocols are checked.
func skipsOutage(o faultnet.Outage) bool {
	return testing.Short() && o != faultnet.CutOff && o != faultnet.Frozen
}

// cell returns the result of a transfer with an outage.
func (o *Outage) cell(t *testing.T, outage faultnet.Outage, at faultnet.Place, intact [][]int) (text string) {
	switch {
	case outage == faultnet.Trickle && (at.Turn == 0 || at.Part == faultnet.After),
		o.Packets && (outage == faultnet.CutOff || outage == faultnet.HalfOpen || outage == faultnet.Trickle):
		return "-"
	}
	text = notRun
	if skipsOutage(outage) {
		return text
	}
	name := fmt.Sprintf("%s %s", outage, o.phase(at))
	t.Run(name, func(t *testing.T) {
		o.trial(t, outage, at, intact, func(w *faultnet.Wires, r outageResult) {
			text = r.text(o)
			if !w.Hit() {
				text = "-"
			}
			o.check(t, outage, r)
		})
	})
	return text
}

// idle returns the lines of the table for outages of idle connections. It
// returns none if no connection is open after the transfer.
func (o *Outage) idle(t *testing.T, intact [][]int) string {
	cells := []string{o.Name, "idle connection"}
	open := 0
	for _, outage := range faultnet.Outages() {
		if outage == faultnet.Delayed || outage == faultnet.Trickle {
			cells = append(cells, "-")
			continue
		}
		if skipsOutage(outage) {
			cells = append(cells, notRun)
			continue
		}
		t.Run(fmt.Sprintf("%s idle", outage), func(t *testing.T) {
			o.bubble(t, outage, faultnet.Place{}, intact, func(w *faultnet.Wires, send func() outageResult) {
				send()
				open = w.Fail(outage)
				time.Sleep(time.Second)
				r := send()
				o.check(t, outage, r)
				cells = append(cells, r.text(o))
			})
		})
	}
	if open == 0 {
		return ""
	}
	return strings.Join(cells, "\t") + "\n"
}

// trial calls check with the result of a transfer. It then checks that the next
// transfer succeeds.
func (o *Outage) trial(t *testing.T, outage faultnet.Outage, at faultnet.Place, intact [][]int, check func(*faultnet.Wires, outageResult)) {
	t.Helper()
	o.bubble(t, outage, at, intact, func(w *faultnet.Wires, send func() outageResult) {
		check(w, send())
		if outage == faultnet.Frozen && at.Part == faultnet.After {
			send() // uses the frozen connection
		}
		if o.Multiplexed {
			send() // may use the failed connection
		}
		time.Sleep(time.Second) // before the next attempt
		if r := send(); r.err != nil || r.body != o.Body {
			t.Errorf("the next request: %q, %v", r.body, r.err)
		}
	})
}

// bubble calls f in a synctest bubble with a network and a function that
// transfers the object.
func (o *Outage) bubble(t *testing.T, outage faultnet.Outage, at faultnet.Place, intact [][]int, f func(*faultnet.Wires, func() outageResult)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		n := faultnet.NewNetwork(t)
		closeServer := o.Serve(n)
		w := faultnet.NewWires(outage, at, intact)
		c := NewClient(t, o.Schemes(), func(opts *fetch.Options) {
			if o.Client != nil {
				o.Client(opts)
			}
			opts.Dial = w.Dial(n.Dial)
		})
		dir, err := testdir.New()
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		f(w, func() outageResult { return o.send(t.Context(), c, filepath.Join(dir, "out")) })
		c.Close()
		w.Close()
		closeServer()
	})
}

// An outageResult is the result of a transfer to a file.
type outageResult struct {
	err  error
	body string // content of the file with the final name
	took time.Duration
}

// text returns the cell of the table: the Fault, or "ok", and the time.
func (r *outageResult) text(o *Outage) string {
	word := "ok"
	switch {
	case r.err != nil:
		word = fetch.FaultOf(r.err).String()
	case r.body != o.Body:
		word = "ok, truncated"
	}
	if took := r.took.Round(time.Second); took > 0 {
		word += fmt.Sprintf(" %ds", int(took.Seconds()))
	}
	return word
}

// send transfers the object to the file out, and then removes the file.
func (o *Outage) send(ctx context.Context, c *fetch.Client, out string) (r outageResult) {
	start := time.Now()
	r.err = o.save(ctx, c, out)
	r.took = time.Since(start)
	content, err := os.ReadFile(out)
	r.body = string(content)
	if !errors.Is(err, fs.ErrNotExist) {
		r.err = cmp.Or(r.err, err, os.Remove(out))
	}
	return r
}

func (o *Outage) save(ctx context.Context, c *fetch.Client, out string) error {
	u, err := fetch.ParseURL(o.URL)
	if err != nil {
		return err
	}
	f, err := save.Create(out, save.Options{URL: o.URL})
	if err != nil {
		return err
	}
	defer f.Close()
	resp, err := c.Do(ctx, &fetch.Request{URL: u})
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.Input != nil && o.Input != "" {
		io.WriteString(resp.Input, o.Input)
	}
	if err := f.Begin(save.State{Offset: resp.Offset, Validator: resp.Validator, Size: resp.Size}); err != nil {
		return err
	}
	if _, err := io.Copy(f, resp.Body); err != nil {
		return err
	}
	return f.Commit()
}

// mayEnd reports whether a transfer may end without an error at an outage.
func (o *Outage) mayEnd(outage faultnet.Outage) bool {
	return o.Session || o.OpenEnd && outage == faultnet.CutOff
}

// check checks the rules of RunOutages.
func (o *Outage) check(t *testing.T, outage faultnet.Outage, r outageResult) {
	t.Helper()
	ended := outage == faultnet.CutOff || outage == faultnet.Aborted
	possible := []fetch.Fault{fetch.Timeout}
	if outage != faultnet.Delayed && outage != faultnet.Trickle && outage != faultnet.Frozen {
		possible = []fetch.Fault{fetch.Connect, fetch.Truncated}
		if outage == faultnet.HalfOpen {
			possible = append(possible, fetch.Timeout)
		}
	}
	switch {
	case r.err == nil && r.body != o.Body && !(o.mayEnd(outage) && strings.HasPrefix(o.Body, r.body)):
		t.Errorf("success with an incomplete object: %q", r.body)
	case r.err != nil && !slices.Contains(possible, fetch.FaultOf(r.err)):
		t.Errorf("%v: %v, want one of %v", fetch.FaultOf(r.err), r.err, possible)
	case r.err != nil && !fetch.Retryable(r.err):
		t.Errorf("not retryable: %v", r.err)
	case r.err != nil && r.body != "":
		t.Errorf("error %v, but the file has its final name", r.err)
	}
	limit := silentLimit
	switch {
	case ended:
		limit = brokenLimit
	case outage == faultnet.Trickle:
		limit = time.Duration(len(slices.Concat(o.Phases...))) * silentLimit // the limit of each response
	}
	if r.took > limit {
		t.Errorf("took %v, want at most %v", r.took, limit)
	}
}
