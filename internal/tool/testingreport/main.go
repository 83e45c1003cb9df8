// Program testingreport reads the figures that tests have written, and updates
// doc/testing-results.json and the tables of doc/testing.md. "make
// testing-report" runs the tests and this program.
package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/anyurl/fetch/internal/test/report"
)

// The files of the repository that the program writes.
const (
	resultsFile = "doc/testing-results.json"
	pageFile    = "doc/testing.md"
)

// Results are the figures of all layers.
type Results struct {
	Commit  string // commit of the newest figures
	Go      string
	Machine string
	Rows    []Row
}

// A Row is a figure of a layer, in the table of the layer.
type Row struct {
	Layer   string
	Measure string
	Scope   string // "test" or "soak"
	Value   int
	Date    string // day of the test
}

func main() {
	folder := flag.String("results", "bin/results", "read the figures in this folder")
	flag.Parse()
	if err := update(*folder); err != nil {
		fmt.Fprintln(os.Stderr, "testingreport:", err)
		os.Exit(1)
	}
}

// update reads the figures in folder and updates the files in the current folder.
func update(folder string) error {
	old, err := readResults(resultsFile)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	rows, err := readFolder(folder)
	if err != nil {
		return err
	}
	counted, err := count(".")
	if err != nil {
		return err
	}
	bugs, err := filepath.Glob(bugFiles)
	if err != nil {
		return err
	}
	old.Rows = addUnmeasured(existingBugs(old.Rows, bugs), bugs, "")
	today := time.Now().UTC().Format(time.DateOnly)
	r := Results{Commit: commit(), Go: runtime.Version(), Machine: machine(), Rows: merge(old.Rows, append(rows, counted...), today)}
	if err := r.write(resultsFile); err != nil {
		return err
	}
	page, err := os.ReadFile(pageFile)
	if err != nil {
		return err
	}
	filled, err := fill(string(page), r)
	if err != nil {
		return err
	}
	return os.WriteFile(pageFile, []byte(filled), 0o666)
}

func readResults(name string) (r Results, err error) {
	text, err := os.ReadFile(name)
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	return r, err
}

// write writes the results to a file, with a line for each row.
func (r Results) write(name string) error {
	rows := r.Rows
	r.Rows = nil
	text, err := json.MarshalIndent(r, "", "\t")
	head, _, _ := strings.Cut(string(text), "null")
	lines := make([]string, len(rows))
	for n, row := range rows {
		var line []byte
		if line, err = json.Marshal(row); err != nil {
			return err
		}
		lines[n] = "\t\t" + string(line)
	}
	if err != nil {
		return err
	}
	return os.WriteFile(name, []byte(head+"[\n"+strings.Join(lines, ",\n")+"\n\t]\n}\n"), 0o666)
}

// readFolder returns the sums of the figures in the files of a folder.
func readFolder(folder string) (rows []Row, err error) {
	names, err := filepath.Glob(filepath.Join(folder, "*.jsonl"))
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		for d := json.NewDecoder(f); ; {
			var line report.Figure
			if err := d.Decode(&line); err == io.EOF {
				break
			} else if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			rows = add(rows, Row{Layer: line.Layer, Measure: line.Measure, Scope: line.Scope, Value: line.Value})
		}
	}
	return rows, nil
}

// isSame reports whether a and b are figures of the same measure.
func (a Row) isSame(b Row) bool {
	return a.Layer == b.Layer && a.Measure == b.Measure && a.Scope == b.Scope
}

// add adds a figure to rows.
func add(rows []Row, r Row) []Row {
	if i := slices.IndexFunc(rows, r.isSame); i >= 0 {
		rows[i].Value += r.Value
		return rows
	}
	return append(rows, r)
}

// merge returns the new rows with their date, and the old rows of the layers and
// scopes that have no new row.
func merge(old, rows []Row, date string) (all []Row) {
	for _, r := range old {
		sameTest := func(n Row) bool { return n.Layer == r.Layer && n.Scope == r.Scope }
		if r.Layer == mutantsLayer || r.Layer == bugsLayer || r.Layer == coverageLayer || r.Layer == runsLayer { // each package and each bug can be run separately
			sameTest = r.isSame
		}
		if !slices.ContainsFunc(rows, sameTest) {
			all = append(all, r)
		}
	}
	for _, r := range rows {
		r.Date = date
		all = append(all, r)
	}
	slices.SortStableFunc(all, func(a, b Row) int { return cmp.Compare(a.Layer, b.Layer) })
	return all
}

// commit returns the hash of the current commit, or "".
func commit() string {
	out, err := exec.Command("git", "rev-parse", "--short=12", "HEAD").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// machine describes the processors and the system.
func machine() string {
	model := ""
	text, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			model = ", " + strings.TrimSpace(value)
			break
		}
	}
	return fmt.Sprintf("%s/%s, %d processors%s", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), model)
}
