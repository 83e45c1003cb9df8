package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// helper is the file that selects the mutant, without its package clause and the
// constant count__.
const helper = `
import (
	os__ "os"
	strconv__ "strconv"
	atomic__ "sync/atomic"
)

var (
	active__, _ = strconv__.Atoi(os__.Getenv("MUTANT"))
	file__      = os__.Getenv("MUTANTS_REACHED")
	reached__   [count__]atomic__.Bool
)

// mutant__ reports whether a mutant is selected.
func mutant__(id int) bool {
	if active__ == id {
		return true
	}
	if file__ != "" && !reached__[id].Load() {
		if !reached__[id].Swap(true) {
			if f, err := os__.OpenFile(file__, os__.O_APPEND|os__.O_CREATE|os__.O_WRONLY, 0o666); err == nil {
				f.WriteString(strconv__.Itoa(id) + "\n")
				f.Close()
			}
		}
	}
	return false
}
`

// A tester runs tests with the mutants of a package.
type tester struct{ binaries []*binary }

// A binary has the tests of one package.
type binary struct {
	name  string
	dir   string                   // folder of the package, in which the tests run
	tests map[int][]string         // tests that reach a mutant
	took  map[string]time.Duration // durations of the tests without a mutant
}

// newTester compiles the tests of a package and of the packages others, with the
// mutants of p, and finds out which mutants each test reaches.
func newTester(p *source, dir string, others []string) (*tester, error) {
	overlay, err := writeOverlay(p, dir)
	if err != nil {
		return nil, err
	}
	t := &tester{}
	for n, path := range append([]string{p.path}, others...) {
		b := &binary{name: filepath.Join(dir, fmt.Sprint("test", n)), tests: map[int][]string{}, took: map[string]time.Duration{}}
		out, err := exec.Command("go", "list", "-f", "{{.Dir}}", path).Output()
		if err != nil {
			return nil, fmt.Errorf("go list %s: %w", path, err)
		}
		b.dir = strings.TrimSpace(string(out))
		if out, err := exec.Command("go", "test", "-c", "-overlay", overlay, "-o", b.name, path).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%w: %s", err, out)
		}
		if err := b.measure(); err != nil {
			return nil, err
		}
		t.binaries = append(t.binaries, b)
	}
	return t, nil
}

// writeOverlay writes the files of p with the mutants to dir, and a file for the
// flag -overlay of the go command. It returns the path of this file.
func writeOverlay(p *source, dir string) (string, error) {
	text := fmt.Sprintf("package %s\n%s\nconst count__ = %d\n", p.pkg, helper, len(p.mutants)+1)
	replace := map[string]string{filepath.Join(p.dir, "mutants__.go"): filepath.Join(dir, "mutants__.go")}
	if err := os.WriteFile(filepath.Join(dir, "mutants__.go"), []byte(text), 0o666); err != nil {
		return "", err
	}
	for name, text := range p.files {
		changed := filepath.Join(dir, filepath.Base(name))
		if err := os.WriteFile(changed, []byte(edited(text, p.edits[name])), 0o666); err != nil {
			return "", err
		}
		replace[name] = changed
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, "overlay.json")
	return file, os.WriteFile(file, overlay, 0o666)
}

// edited returns text with the edits. An edit with a negative place is an end:
// at the same place, ends precede beginnings, and the inner end is first.
func edited(text []byte, edits []edit) string {
	var begins, ends []edit
	for _, e := range edits {
		if e.at > 0 {
			begins = append(begins, e)
		} else {
			ends = append(ends, edit{-e.at, e.text})
		}
	}
	slices.Reverse(ends) // the outer node was added first
	slices.SortStableFunc(begins, func(a, b edit) int { return a.at - b.at })
	slices.SortStableFunc(ends, func(a, b edit) int { return a.at - b.at })
	var b strings.Builder
	last := 0
	for len(begins)+len(ends) > 0 {
		list := &begins
		if len(begins) == 0 || len(ends) > 0 && ends[0].at <= begins[0].at {
			list = &ends
		}
		e := (*list)[0]
		*list = (*list)[1:]
		b.Write(text[last:e.at])
		b.WriteString(e.text)
		last = e.at
	}
	b.Write(text[last:])
	return b.String()
}

// execute runs the tests in the folder of their package.
func (b *binary) execute(limit time.Duration, env []string, args ...string) (output string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	c := exec.CommandContext(ctx, b.name, append(args, "-test.short", "-test.failfast")...)
	c.Dir, c.Env, c.WaitDelay = b.dir, append(os.Environ(), env...), time.Second
	out, err := c.CombinedOutput()
	return string(out), err
}

// limit is the time limit of a test without a mutant.
const limit = 2 * time.Minute

// measure finds the mutants that each test reaches. Tests that fail without a
// mutant are left out, for example tests of allocations.
func (b *binary) measure() error {
	list, err := b.execute(limit, nil, "-test.list", ".")
	if err != nil {
		return err
	}
	for _, name := range strings.Fields(list) {
		if !regexp.MustCompile(`^(Test|Fuzz|Example)`).MatchString(name) {
			continue
		}
		reached := b.name + "-reached-" + name
		start := time.Now()
		if out, err := b.execute(limit, []string{"MUTANTS_REACHED=" + reached}, "-test.run", "^"+name+"$"); err != nil {
			fmt.Printf("left out %s: %v: %.300s\n", name, err, out)
			continue
		}
		b.took[name] = time.Since(start)
		text, err := os.ReadFile(reached)
		if err != nil && !os.IsNotExist(err) {
			return err
		}
		for _, line := range strings.Fields(string(text)) {
			id, err := strconv.Atoi(line)
			if err != nil {
				return err
			}
			if !slices.Contains(b.tests[id], name) { // processes of a test write to the same file
				b.tests[id] = append(b.tests[id], name)
			}
		}
	}
	return nil
}

// reaches reports whether tests reach a mutant.
func (t *tester) reaches(m mutant) bool {
	return slices.ContainsFunc(t.binaries, func(b *binary) bool { return len(b.tests[m.id]) > 0 })
}

// test runs the tests that reach a mutant, and returns its result.
func (t *tester) test(m mutant) (result string, err error) {
	result = unreached
	for _, b := range t.binaries {
		if len(b.tests[m.id]) == 0 {
			continue
		}
		if detected, err := b.detects(m); detected || err != nil {
			return killed, err
		}
		result = survived
	}
	return result, nil
}

// detects runs the tests that reach a mutant, the fastest first. It reports
// whether one fails, or does not end. It returns an error if the tests cannot be
// started.
func (b *binary) detects(m mutant) (bool, error) {
	names := b.tests[m.id]
	slices.SortFunc(names, func(x, y string) int { return int(b.took[x] - b.took[y]) })
	for len(names) > 0 {
		group := names[:min(len(names), 8)]
		names = names[len(group):]
		limit := 10 * time.Second
		for _, name := range group {
			limit += 10 * b.took[name]
		}
		_, err := b.execute(limit, []string{"MUTANT=" + strconv.Itoa(m.id)}, "-test.run", "^("+strings.Join(group, "|")+")$")
		if start := (*fs.PathError)(nil); errors.As(err, &start) {
			return false, err
		}
		if err != nil {
			return true, nil
		}
	}
	return false, nil
}

// equivalents lists mutants that no test can find, because the program behaves
// the same. A line has the file, both operators, the line of the source and the
// reason, with tabs between them.
//
//go:embed equivalents.txt
var equivalents string

func readEquivalents() (map[string]bool, error) {
	known := map[string]bool{}
	for line := range strings.Lines(equivalents) {
		fields := strings.Split(strings.TrimRight(line, "\n"), "\t")
		if strings.HasPrefix(line, "#") || line == "\n" {
			continue
		}
		if len(fields) != 5 {
			return nil, fmt.Errorf("equivalents.txt: %q has %d fields, want 5", line, len(fields))
		}
		known[strings.Join(fields[:4], "\t")] = true
	}
	return known, nil
}
