// Package report collects the figures of tests for doc/testing.md. The program
// internal/tool/testingreport reads them.
package report

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// Folder is the environment variable with the folder for the files of the
// figures. If it is empty, the figures are only logged.
const Folder = "FETCH_RESULTS"

// A Figure is a number that a test has counted. Figures with the same layer,
// measure and scope are added.
type Figure struct {
	Layer   string `json:"layer"`   // kind of test, such as "kill points"
	Measure string `json:"measure"` // the counted events, such as "kills"
	Value   int    `json:"value"`
	Scope   string `json:"scope"` // "test" or "soak"
	Test    string `json:"test"`  // name of the test
}

// Figures are the figures of one test. They are safe for concurrent use.
type Figures struct {
	layer string
	mu    sync.Mutex
	names []string // measures in the order of their first use
	value map[string]int
}

// Start returns the figures of a test in a layer. They are written when the test
// ends. The measure "seconds" is the duration of the test.
func Start(t testing.TB, layer string) *Figures {
	f := &Figures{layer: layer, value: map[string]int{}}
	start := time.Now()
	t.Cleanup(func() {
		f.Add("seconds", int(time.Since(start).Round(time.Second)/time.Second))
		if err := f.write(t); err != nil {
			t.Errorf("the figures cannot be written: %v", err)
		}
	})
	return f
}

// Add adds n to a measure.
func (f *Figures) Add(measure string, n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, ok := f.value[measure]; !ok {
		f.names = append(f.names, measure)
	}
	f.value[measure] += n
}

// write logs the figures and appends them to the file of the layer.
func (f *Figures) write(t testing.TB) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []Figure
	for _, name := range f.names {
		all = append(all, Figure{f.layer, name, f.value[name], scope, t.Name()})
		t.Logf("%s: %d %s", f.layer, f.value[name], name)
	}
	text, err := encode(all)
	if err != nil {
		return err
	}
	dir := os.Getenv(Folder)
	if dir == "" || t.Failed() || t.Skipped() {
		return nil
	}
	name := filepath.Join(dir, strings.ReplaceAll(f.layer, " ", "-")+".jsonl")
	file, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	if _, err := file.Write(text); err != nil {
		file.Close()
		return err
	}
	return file.Close()
}

// Write writes figures to the file dir/name.jsonl, which it replaces. It does
// nothing if dir is empty.
func Write(dir, name string, figures []Figure) error {
	text, err := encode(figures)
	if err != nil || dir == "" {
		return err
	}
	return os.WriteFile(filepath.Join(dir, name+".jsonl"), text, 0o666)
}

// encode returns a line for each figure.
func encode(figures []Figure) (text []byte, err error) {
	for _, f := range figures {
		line, err := json.Marshal(f)
		if err != nil {
			return nil, err
		}
		text = append(append(text, line...), '\n')
	}
	return text, nil
}
