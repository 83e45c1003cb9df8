package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// promiseTest is a test in a cell of the table of promises.
var promiseTest = regexp.MustCompile("`((?:Test|Fuzz)[A-Za-z]+)[^`]*`")

// TestPromises checks that each promise of the page has a test in the package of
// its row.
func TestPromises(t *testing.T) {
	page, err := os.ReadFile("../../../" + pageFile)
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(page), "| promise | test | package |\n|---|---|---|\n")
	text, _, _ = strings.Cut(text, "\n\n")
	rows := strings.Split(text, "\n")
	if len(rows) < 20 {
		t.Fatalf("%d rows, want at least 20", len(rows))
	}
	for _, row := range rows {
		cells := strings.Split(strings.Trim(row, "|"), " | ")
		folder := strings.Split(cells[len(cells)-1], "`")
		tests := promiseTest.FindAllStringSubmatch(cells[len(cells)-2], -1)
		if len(tests) == 0 || len(folder) < 2 {
			t.Errorf("no test or no package: %s", row)
			continue
		}
		source := testSource(t, filepath.Join("../../..", folder[1]))
		for _, test := range tests {
			if !strings.Contains(source, "func "+test[1]+"(") {
				t.Errorf("%s has no %s", folder[1], test[1])
			}
		}
	}
}

// testSource returns the test files of a folder.
func testSource(t *testing.T, dir string) string {
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	return all.String()
}
