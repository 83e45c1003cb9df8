package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// countLayer is the layer of the counts of the source.
const countLayer = "source"

// tests matches the first lines of Go test functions, and fuzzTargets matches the
// first lines of fuzz targets.
var (
	tests       = regexp.MustCompile(`(?m)^func (Test|Benchmark|Example|TestSoak)\w*\(`)
	fuzzTargets = regexp.MustCompile(`(?m)^func (Fuzz\w+)\(\w+ \*testing\.F\)`)
)

// count counts tests and lines below a folder.
func count(root string) (rows []Row, err error) {
	one := func(measure string, n int) {
		rows = add(rows, Row{Layer: countLayer, Measure: measure, Scope: "test", Value: n})
	}
	for _, measure := range []string{"lines of product code", "lines of test code", "test functions", "fuzz targets", "examples",
		"scripts of the command", "stored inputs of fuzz targets", "programs for comparison and real servers"} {
		one(measure, 0)
	}
	err = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		slash := filepath.ToSlash(path)
		switch {
		case err != nil:
			return err
		case e.IsDir() && (e.Name() == "bin" || e.Name() == "dist" || len(e.Name()) > 1 && strings.HasPrefix(e.Name(), ".")):
			return filepath.SkipDir
		case e.IsDir():
			return nil
		case strings.Contains(slash, "/testdata/fuzz/"):
			one("stored inputs of fuzz targets", 1)
			pkg, input, _ := strings.Cut(slash, "/testdata/fuzz/")
			rows = add(rows, fuzzRow(pkg, filepath.Dir(input), 1))
		case strings.Contains(slash, "testdata/script/"):
			one("scripts of the command", 1)
		case strings.HasSuffix(slash, ".go"):
			targets, err := countFile(slash, one)
			for _, name := range targets {
				rows = add(rows, fuzzRow(filepath.Dir(slash), name, 0))
			}
			return err
		case strings.HasSuffix(slash, "internal/test/peer/install"):
			return countPeers(path, one)
		}
		return nil
	})
	return rows, err
}

// countFile counts the lines and the tests of a file. It returns the names of the
// fuzz targets.
func countFile(path string, one func(string, int)) (targets []string, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	lines := bytes.Count(text, []byte("\n"))
	if !strings.HasSuffix(path, "_test.go") && !strings.Contains(path, "internal/test/") {
		one("lines of product code", lines)
		return nil, nil
	}
	one("lines of test code", lines)
	for _, m := range tests.FindAllSubmatch(text, -1) {
		switch string(m[1]) {
		case "Test":
			one("test functions", 1)
		case "Example":
			one("examples", 1)
		}
	}
	for _, m := range fuzzTargets.FindAllSubmatch(text, -1) {
		one("fuzz targets", 1)
		targets = append(targets, string(m[1]))
	}
	return targets, nil
}

// countPeers counts the packages that "make peers" installs.
func countPeers(path string, one func(string, int)) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	inList := false
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		name, list, found := strings.Cut(line, "=(")
		switch {
		case found && (name == "installed" || name == "unpacked" || name == "modules" || name == "files"):
			inList = !strings.HasSuffix(list, ")")
			one("programs for comparison and real servers", packages(strings.TrimSuffix(list, ")")))
		case line == ")":
			inList = false
		case inList:
			one("programs for comparison and real servers", packages(line))
		}
	}
	return nil
}

// packages returns the number of packages in a line that are no libraries.
func packages(line string) (n int) {
	for _, name := range strings.Fields(line) {
		if !strings.HasPrefix(name, "lib") {
			n++
		}
	}
	return n
}
