package schemes

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"text/tabwriter"

	"github.com/anyurl/fetch/fetch"
)

var update = flag.Bool("update", false, "write testdata/policy.txt")

// TestPolicyTable compares the security properties of all schemes with the
// reviewed table. A change of the table changes the access that untrusted URLs
// have.
func TestPolicyTable(t *testing.T) {
	const name = "testdata/policy.txt"
	got := policyTable(All(Options{}))
	if *update {
		if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the table changed: review it and run go test ./schemes -update:\n%s", got)
	}
}

// policyTable returns a table with a line for each scheme.
func policyTable(all []fetch.Scheme) string {
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "SCHEME\tPORT\tEXTRA\tABOVE 1023\tFLAGS\tLEADS TO\tDOWNGRADE\tLED TO BY")
	for _, s := range all {
		from := "(leads to)"
		if s.Links.Confined || s.Local {
			from = list(s.Links.From)
		}
		fmt.Fprintf(w, "%s\t%d\t%s\t%s\t%s\t%s\t%s\t%s\n", s.Name, s.Port, extraPorts(s), s.Ports.Class,
			flags(s), list(s.Links.To), list(s.Links.Downgrade), from)
	}
	w.Flush()
	return text.String()
}

// extraPorts lists the ports of URLs, and those of further connections to the
// same server with the prefix "peer:".
func extraPorts(s fetch.Scheme) string {
	var all []string
	for _, p := range s.Ports.Extra {
		all = append(all, fmt.Sprint(p))
	}
	for _, p := range s.Ports.Peer {
		all = append(all, fmt.Sprint("peer:", p))
	}
	return list(all)
}

func flags(s fetch.Scheme) string {
	var set []string
	for _, f := range []struct {
		name string
		on   bool
	}{{"tls", s.Secure}, {"local", s.Local}, {"confined", s.Links.Confined}, {"ownport", s.Links.OwnPort}} {
		if f.on {
			set = append(set, f.name)
		}
	}
	return list(set)
}

func list[T any](all []T) string {
	if len(all) == 0 {
		return "-"
	}
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(all), " ", ","), "[]")
}

// TestSizes checks that each scheme distinguishes an empty object from an
// object of unknown size.
func TestSizes(t *testing.T) {
	for _, s := range All(Options{}) {
		if !s.Traits.ReportsSize {
			t.Errorf("%s: does not distinguish an empty object from an unknown size", s.Name)
		}
	}
}
