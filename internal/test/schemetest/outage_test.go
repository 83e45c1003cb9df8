package schemetest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/anyurl/fetch/internal/test/faultnet"
)

// outagePage is the page of the documentation that TestDeadNetworksPage compares.
const outagePage = "../../../doc/faults.md"

const outageIntro = `# What happens when the network dies

A relay stands between fetch and a server, and makes the network fail in each phase of each protocol. The tests run in fake time, so
the results do not depend on the speed of the machine. This page is generated from their results: %d transfers of %d
protocols, in %d places.

After each of these transfers, the tests check four rules:

* The object is complete, or the error is transient, so that fetch tries again. Interrupted sessions and "ok, truncated" are explained
  below.
* The transfer ends within the limit of its phase. No limit depends on the good will of the server.
* An incomplete object never gets its final name.
* The next request of the same process succeeds. A request after "freeze" at the end of a response, and a request on an HTTP/2
  connection that failed, may fail once more, because the connection still looks open.

## Faults and exit codes

| fault | exit code | meaning |
|---|---|---|
| connect | 4 | the connection failed or was reset |
| timeout | 4 | nothing arrived in time, or too few bytes |
| truncated | 11 | the response ended early |

A cell has the fault without retries, or "ok", and the time until the result. The time is omitted if it is less than half a second.
"ok, truncated" means that the protocol has no mark for the end of an object, so that the loss is not visible; --strict
rejects such responses. "-" means that the outage does not exist there.

## Outages

| outage | what the relay does |
|---|---|
| cut | both directions end with a FIN; a connection attempt is refused |
| reset | the connection is reset; a connection attempt is refused |
| half-open | the server forgot the connection: it sends nothing, and resets the connection when the client writes |
| freeze | all further packets are lost |
| delay | nothing passes for 20 seconds, or 5 seconds in a connection attempt |
| trickle | all further bytes of the server arrive one by one, every 10 seconds |

An outage begins before the first byte of a response, after the first byte, after half of the bytes, or after the last byte. Rows with
the same results are combined. "idle connection" is the result of the next request if the connection failed while it was unused.

## Results
`

// TestDeadNetworksPage compares the page with the results of all schemes.
func TestDeadNetworksPage(t *testing.T) {
	files, err := filepath.Glob("../../../schemes/*/testdata/outages.tsv")
	below, err2 := filepath.Glob("../../../schemes/*/*/testdata/outages.tsv")
	if err != nil || err2 != nil || len(files) < 15 {
		t.Fatalf("%d files with results, %v, %v", len(files), err, err2)
	}
	files = append(files, below...)
	slices.Sort(files)
	var rows [][]string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			rows = append(rows, strings.Split(strings.TrimSuffix(line, "\n"), "\t"))
		}
	}
	got := page(rows)
	if *updateOutages {
		if err := os.WriteFile(outagePage, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(outagePage); err != nil || got != string(want) {
		t.Errorf("doc/faults.md differs from the results of the tests (%v): go test ./internal/test/schemetest -update-outages writes it", err)
	}
}

// page returns the page for the rows of all tables.
func page(rows [][]string) string {
	var text strings.Builder
	transfers, protocols := 0, 0
	for _, row := range rows {
		transfers += len(slices.DeleteFunc(slices.Clone(row[2:]), func(cell string) bool { return cell == "-" }))
	}
	last, places := "", len(rows)
	for _, row := range combine(rows) {
		if row[0] != last {
			last = row[0]
			protocols++
			fmt.Fprintf(&text, "\n### %s\n\n| phase |", row[0])
			for _, o := range faultnet.Outages() {
				fmt.Fprintf(&text, " %s |", o)
			}
			text.WriteString("\n|---|" + strings.Repeat("---|", len(faultnet.Outages())) + "\n")
		}
		fmt.Fprintf(&text, "| %s |\n", strings.Join(row[1:], " | "))
	}
	return fmt.Sprintf(outageIntro, transfers, protocols, places) + text.String()
}

// combine combines adjacent rows of the same response with the same results.
func combine(rows [][]string) (all [][]string) {
	for _, row := range rows {
		row = slices.Clone(row)
		if n := len(all); n > 0 && all[n-1][0] == row[0] && slices.Equal(all[n-1][2:], row[2:]) {
			before, _, _ := strings.Cut(all[n-1][1], ": ")
			if response, part, ok := strings.Cut(row[1], ": "); ok && response == before {
				all[n-1][1] += ", " + part
				continue
			}
		}
		all = append(all, row)
	}
	return all
}
