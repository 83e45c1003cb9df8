package main_test

import (
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/anyurl/fetch/cmd/fetch/internal/commandtest"
)

// largeInits lists the packages whose initialization may allocate more than
// maxInit bytes. Every start of the command pays for them, because Go
// initializes all packages that are linked. Add a package only if the tables
// that it creates cannot be created at their first use.
var largeInits = map[string]string{
	"golang.org/x/net/html":                                "named characters, for links",
	"github.com/klauspost/compress/flate":                  "code tables, for WARC files",
	"github.com/klauspost/compress/internal/snapref":       "a CRC table, for the content coding zstd",
	"github.com/dustin/go-humanize":                        "units, for the C library of SQLite",
	"golang.org/x/crypto/ssh":                              "algorithms, for sftp",
	"github.com/cloudsoda/go-smb2/internal/erref":          "names of status codes, for smb",
	"github.com/cloudsoda/sddl":                            "names of users, which go-smb2 links",
	"golang.org/x/text/encoding/htmlindex":                 "names of charsets",
	"github.com/quic-go/qpack":                             "the static table of header fields, for HTTP/3",
	"github.com/quic-go/quic-go/qlogwriter":                "metrics of net/http, which quic-go links",
	"github.com/ProtonMail/go-crypto/openpgp/internal/ecc": "curves, for signatures of OpenPGP",
	"encoding/gob":                                         "types, for the keys of Kerberos",
	"encoding/xml":                                         "named characters",
	"html/template":                                        "contexts, for fetch serve",
	"unicode":                                              "tables",
	"github.com/anyurl/fetch/internal/base/media":          "types of file names",
}

const maxInit = 8 << 10

// TestInitialization checks that no other package allocates much memory when
// the command starts. Allocated bytes are the same in each run, but times are
// not. On a quiet machine, each of these packages except the last four needs
// more than 50 µs or allocates most of the memory.
func TestInitialization(t *testing.T) {
	cmd := exec.Command(commandtest.Fetch(t), "--version")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	var trace strings.Builder
	cmd.Stderr = &trace
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	lines := regexp.MustCompile(`(?m)^init (\S+) @.* (\d+) bytes, `).FindAllStringSubmatch(trace.String(), -1)
	if len(lines) < 50 {
		t.Fatalf("%d packages in the trace:\n%s", len(lines), trace.String())
	}
	total := 0
	for _, line := range lines {
		n, err := strconv.Atoi(line[2])
		if err != nil {
			t.Fatal(err)
		}
		total += n
		if _, ok := largeInits[line[1]]; n > maxInit && !ok {
			t.Errorf("package %s allocates %d bytes in its initialization: create its tables at their first use, or add it to largeInits", line[1], n)
		}
	}
	if total > 580<<10 {
		t.Errorf("initializations allocate %d bytes", total)
	}
}
