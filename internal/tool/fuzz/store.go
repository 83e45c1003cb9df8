package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Bounds of the inputs that are stored.
const (
	maxInputSize = 2 << 10
	maxInputs    = 12 // of a target
)

// storeInputs copies inputs of the fuzz cache to the folders of their packages. An
// input is stored if it reaches a statement that no other input of its target
// reaches.
func storeInputs(packages []*fuzzed, dir string) error {
	for _, p := range packages {
		var c *coverer
		folder, err := p.cache()
		if err != nil {
			return err
		}
		for _, target := range p.targets {
			cache := filepath.Join(folder, target)
			names, err := candidates(cache, filepath.Join(p.folder, "testdata", "fuzz", target))
			if err != nil {
				return err
			}
			if len(names) == 0 {
				continue
			}
			if c == nil {
				if c, err = newCoverer(p, dir); err != nil {
					return err
				}
			}
			if err := c.store(target, cache, names); err != nil {
				return err
			}
		}
	}
	return nil
}

// candidates returns the names of the inputs in the folder cache that are not
// stored yet, the smallest first.
func candidates(cache, stored string) (names []string, err error) {
	entries, err := os.ReadDir(cache)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	size := map[string]int64{}
	for _, e := range entries {
		info, failed := e.Info()
		if failed != nil {
			return nil, failed
		}
		if _, missing := os.Stat(filepath.Join(stored, e.Name())); missing != nil && info.Size() <= maxInputSize {
			names, size[e.Name()] = append(names, e.Name()), info.Size()
		}
	}
	slices.SortStableFunc(names, func(a, b string) int { return int(size[a] - size[b]) })
	return names, err
}

// store copies all candidates, and then removes those that reach no further
// statement.
func (c *coverer) store(target, cache string, names []string) (err error) {
	folder := filepath.Join(c.p.folder, "testdata", "fuzz", target)
	base, before, err := c.run(target, "^"+target+"$")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	var kept []string
	defer func() {
		for _, n := range names {
			if !slices.Contains(kept, n) {
				err = errors.Join(err, os.Remove(filepath.Join(folder, n)))
			}
		}
		os.Remove(folder) // if it is empty
		os.Remove(filepath.Dir(folder))
	}()
	for n, name := range names {
		text, err := os.ReadFile(filepath.Join(cache, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(folder, name), text, 0o666)
		}
		if err != nil {
			names = names[:n]
			return err
		}
	}
	covered := maps.Clone(base.covered)
	kept, err = choose(names, covered, func(group []string) (map[string]bool, error) {
		p, _, err := c.run(target, pattern(target, group))
		return p.covered, err
	})
	kept = kept[:min(len(kept), maxInputs)]
	fmt.Printf("%s %s: %d inputs, %d of %d generated inputs added\n", c.p.folder, target, before, len(kept), len(names))
	return err
}

// pattern returns the value of -test.run for some inputs of a target.
func pattern(target string, names []string) string {
	quoted := make([]string, len(names))
	for n, name := range names {
		quoted[n] = regexp.QuoteMeta(name)
	}
	return "^" + target + "$/^(" + strings.Join(quoted, "|") + ")$"
}

// choose returns the names that reach statements which neither covered nor the
// chosen names before them reach. It adds these statements to covered. If a group
// of names reaches no new statement, its names are not tried individually.
func choose(names []string, covered map[string]bool, run func([]string) (map[string]bool, error)) (chosen []string, err error) {
	if len(names) == 0 {
		return nil, nil
	}
	reached, err := run(names)
	if err != nil {
		return nil, err
	}
	before := len(covered)
	all := maps.Clone(covered)
	maps.Copy(all, reached)
	if len(all) == before {
		return nil, nil
	}
	if len(names) == 1 {
		maps.Copy(covered, reached)
		return slices.Clone(names), nil
	}
	chosen, err = choose(names[:len(names)/2], covered, run)
	if err != nil || len(covered) == len(all) {
		return chosen, err
	}
	more, err := choose(names[len(names)/2:], covered, run)
	return append(chosen, more...), err
}
