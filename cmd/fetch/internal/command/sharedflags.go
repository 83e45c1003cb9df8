package command

import (
	"strings"

	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/fetch"
	"github.com/spf13/pflag"
)

// RegisterInput registers --input-file and --globoff.
func RegisterInput(p *pflag.FlagSet, name *string, globOff *bool) {
	p.BoolVarP(globOff, "globoff", "g", false, "do not expand globs such as {a,b}, [1-9] and * in URLs")
	p.StringVar(name, "input-file", "", "read more URLs from `FILE`, one per line (- for standard input)")
}

// RegisterOutputDir registers --output-dir.
func RegisterOutputDir(p *pflag.FlagSet, dir *string, usage string) {
	p.StringVar(dir, "output-dir", "", usage)
}

// writingFlags are the flags of curl and wget that upload data. Each of them
// except --request GET returns an error, because fetch only reads.
type writingFlags struct{}

func (writingFlags) Register(s *options.Set) {
	var writing options.Set
	p := writing.Section("Writing")
	names := [][2]string{{"upload-file", "T"}, {"form", "F"}, {"form-string"}, {"data", "d"}, {"data-ascii"}, {"data-raw"},
		{"data-binary"}, {"data-urlencode"}, {"json"}, {"post-data"}, {"post-file"}, {"body-data"}, {"body-file"},
		{"append", "a"}, {"quote", "Q"}, {"prequote"}, {"postquote"}, {"mail-from"}, {"mail-rcpt"}}
	for _, name := range names {
		p.FuncP(name[0], name[1], "not supported", func(string) error { return ErrOnlyReads(name[0]) })
	}
	p.Lookup("append").NoOptDefVal = "true"
	p.FuncP("request", "X", "not supported", func(method string) error {
		switch strings.ToUpper(method) {
		case "GET":
			return nil
		case "HEAD":
			return fetch.Usage.Errorf("use -I to request only the header")
		}
		return ErrOnlyReads("request")
	})
	writing.Hide()
	s.Sections = append(s.Sections, writing.Sections...)
}

func ErrOnlyReads(flag string) error { return fetch.Unsupported.Errorf("--%s: fetch only reads", flag) }
