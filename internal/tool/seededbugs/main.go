// Program seededbugs shows that the tests fail if the program has a bug. It
// applies each patch of internal/test/seeded to a copy of the repository, and runs
// the test that the patch names. "make seeded-bugs" runs it.
//
// Each bug has its own file of results. Therefore a run with -run replaces only
// the results of the bugs that it checks.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/anyurl/fetch/internal/test/report"
)

// patches matches the files with the bugs.
const patches = "internal/test/seeded/*.patch"

// A bug is a change of the source that a test must detect.
type bug struct {
	name  string
	text  string // the incorrect behavior of the program
	layer string // kind of the test
	test  string // command of the test
	diff  []byte
}

// readBug reads a patch, which begins with the lines Bug, Layer and Test.
func readBug(name string) (b bug, err error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return bug{}, err
	}
	b.name = strings.TrimSuffix(filepath.Base(name), ".patch")
	head, diff, found := bytes.Cut(text, []byte("\n\n"))
	for line := range strings.Lines(string(head)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch key {
		case "Bug":
			b.text = value
		case "Layer":
			b.layer = value
		case "Test":
			b.test = value
		}
	}
	if !found || b.text == "" || b.layer == "" || !strings.HasPrefix(b.test, "go test ") {
		return bug{}, fmt.Errorf("%s: the lines Bug, Layer and Test are incomplete", name)
	}
	b.diff = diff
	return b, nil
}

// readBugs reads all patches of the repository at root.
func readBugs(root string) (all []bug, err error) {
	names, err := filepath.Glob(filepath.Join(root, patches))
	for _, name := range names {
		if err != nil {
			return nil, err
		}
		var b bug
		b, err = readBug(name)
		all = append(all, b)
	}
	return all, err
}

// apply applies the patch of b in the folder dir, or only checks it.
func (b bug) apply(dir string, args ...string) error {
	c := exec.Command("git", append([]string{"apply", "-C1"}, args...)...)
	c.Dir, c.Stdin = dir, bytes.NewReader(b.diff)
	c.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir))
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", b.name, err, out)
	}
	return nil
}

// testTimeout limits the time of the tests of one bug.
const testTimeout = 20 * time.Minute

// check applies the patch to a copy of the repository and runs the test. It
// returns an error unless the test fails.
func (b bug) check(copyOf func(dir string) error) error {
	dir, err := os.MkdirTemp("", "seeded-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := copyOf(dir); err != nil {
		return err
	}
	if err := b.apply(dir); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), testTimeout)
	defer cancel()
	args := append(strings.Fields(b.test)[1:], "-count=1", "-timeout=0") // ctx has the limit
	c := exec.CommandContext(ctx, "go", args...)
	c.Dir = dir
	c.Env = append(os.Environ(), "GOFLAGS=-trimpath") // so that unchanged packages of other copies are not compiled again
	out, err := c.CombinedOutput()
	switch {
	case err == nil:
		return errors.New("no test failed")
	case ctx.Err() != nil:
		return fmt.Errorf("the tests did not end: %s", out)
	case !bytes.Contains(out, []byte("--- FAIL")):
		return fmt.Errorf("the tests did not run: %s", out)
	}
	return nil
}

func main() {
	run := flag.String("run", "", "check only bugs whose name contains this text")
	results := flag.String("results", "", "write the result of each bug to a file in this folder")
	flag.Parse()
	if err := checkAll(*run, *results); err != nil {
		fmt.Fprintln(os.Stderr, "seededbugs:", err)
		os.Exit(1)
	}
}

// checkAll checks the bugs of the repository in the current folder.
func checkAll(run, results string) error {
	all, err := readBugs(".")
	if err != nil {
		return err
	}
	list, err := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard").Output()
	if err != nil {
		return err
	}
	var names []string
	for _, name := range strings.Split(strings.TrimRight(string(list), "\x00"), "\x00") {
		if _, err := os.Lstat(name); err == nil { // git also lists files that were removed
			names = append(names, name)
		}
	}
	copyOf := func(dir string) error {
		if out, err := exec.Command("cp", append([]string{"--parents", "-t", dir, "--"}, names...)...).CombinedOutput(); err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		return nil
	}
	checked, missed := 0, 0
	for _, b := range all {
		if !strings.Contains(b.name, run) {
			continue
		}
		checked++
		start := time.Now()
		err := b.check(copyOf)
		took := int(time.Since(start).Seconds())
		if err != nil {
			missed++
			fmt.Printf("MISSED %s (%s) after %d s: %v\n", b.name, b.layer, took, err)
		} else {
			fmt.Printf("caught %s (%s) after %d s\n", b.name, b.layer, took)
		}
		if err := b.record(results, err == nil, took); err != nil {
			return err
		}
	}
	switch {
	case checked == 0:
		return fmt.Errorf("no bug has a name with %q", run)
	case missed > 0:
		return fmt.Errorf("the tests missed %d of %d bugs", missed, checked)
	}
	return nil
}

// record writes the result of a bug to a file in the folder for results, if any.
func (b bug) record(folder string, caught bool, seconds int) error {
	result := report.Figure{Layer: "seeded bugs", Measure: b.name + ": caught", Scope: "test"}
	if caught {
		result.Value = 1
	}
	took := report.Figure{Layer: "seeded bugs", Measure: b.name + ": seconds", Scope: "test", Value: seconds}
	return report.Write(folder, "seeded-bug-"+b.name, []report.Figure{result, took})
}
