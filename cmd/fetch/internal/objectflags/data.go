package objectflags

import (
	"bytes"
	"io"
	"os"
	"strings"

	"github.com/anyurl/fetch/cmd/fetch/internal/command"
	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// queryFlags are the flags that add data to the query of each URL.
type queryFlags struct {
	get  bool
	data []queryData
}

// queryData is the value of a flag such as --data.
type queryData struct {
	flag, value string
}

// Register registers the flags. Without --get, curl would post the data, so
// that validate returns an error.
func (f *queryFlags) Register(s *options.Set) {
	p := s.Section("Requests")
	p.BoolVarP(&f.get, "get", "G", false, "add the data of -d to the query of the URL")
	for _, o := range []struct{ name, short, usage string }{
		{"data", "d", "with -G, add `DATA` to the query (@FILE reads a file)"},
		{"data-urlencode", "", "like -d, but percent-encode the `DATA` (NAME=TEXT, NAME@FILE)"},
		{"url-query", "", "like --data-urlencode, but without -G (+DATA adds DATA unchanged)"},
		{"data-raw", "", "with -G, like -d, but without @FILE"},
		{"data-ascii", "", "with -G, like -d"},
		{"data-binary", "", "with -G, like -d, but keep line breaks"},
	} {
		p.FuncP(o.name, o.short, o.usage, func(value string) error {
			f.data = append(f.data, queryData{o.name, value})
			return nil
		})
	}
	for _, name := range []string{"data-raw", "data-ascii", "data-binary"} {
		p.Lookup(name).Hidden = true
	}
}

// Validate returns an error if the flags would send data in the body of a
// request.
func (f *queryFlags) Validate() error {
	for _, d := range f.data {
		if !f.get && d.flag != "url-query" {
			return command.ErrOnlyReads(d.flag)
		}
	}
	return nil
}

// maxQueryFile limits the size of a file that -d names, in bytes. A longer
// query would exceed the limits of servers.
const maxQueryFile = 64 << 10

// Read replaces each @FILE in the data by the contents of the file. Standard
// input can be read only once, so it is read before the first request.
func (f *queryFlags) Read(stdin io.Reader) (err error) {
	for i := range f.data {
		if err := f.data[i].read(stdin); err != nil {
			return err
		}
	}
	return nil
}

// read replaces d.value by the text that is added to the query. If the value
// names a file, read reads the file.
func (d *queryData) read(stdin io.Reader) error {
	value := d.value
	switch d.flag {
	case "data-raw":
	case "data", "data-ascii", "data-binary":
		name, ok := strings.CutPrefix(value, "@")
		if !ok {
			break
		}
		text, err := readQueryFile(name, stdin)
		if err != nil {
			return err
		}
		if d.flag != "data-binary" { // as in curl
			text = strings.NewReplacer("\r", "", "\n", "", "\x00", "").Replace(text)
		}
		value = text
	case "url-query", "data-urlencode":
		if plain, ok := strings.CutPrefix(value, "+"); ok && d.flag == "url-query" {
			value = plain
			break
		}
		i := strings.IndexAny(value, "=@")
		name, text := "", value
		if i >= 0 {
			name, text = value[:i], value[i+1:]
		}
		if i >= 0 && value[i] == '@' {
			var err error
			if text, err = readQueryFile(text, stdin); err != nil {
				return err
			}
		}
		if value = uri.Escape(text, uri.Unreserved); name != "" {
			value = name + "=" + value
		}
	}
	d.value = repairQuery(value)
	return nil
}

func readQueryFile(name string, stdin io.Reader) (string, error) {
	r := stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return "", fetch.Local.With(err)
		}
		defer f.Close()
		r = f
	}
	var text bytes.Buffer
	n, err := io.Copy(&text, io.LimitReader(r, maxQueryFile+1))
	if err != nil {
		return "", fetch.Local.With(err)
	}
	if n > maxQueryFile {
		return "", fetch.TooLarge.Errorf("%s: more than %d bytes for the query of a URL", name, maxQueryFile)
	}
	return text.String(), nil
}

// repairQuery percent-encodes the characters that a query cannot contain.
// Existing percent-encodings are kept.
func repairQuery(text string) string {
	var b []byte
	for i := 0; i < len(text); i++ {
		if text[i] == '%' && i+2 < len(text) && isHex(text[i+1]) && isHex(text[i+2]) {
			b = append(b, '%')
			continue
		}
		b = uri.AppendEscape(b, text[i:i+1], uri.QueryChars)
	}
	return string(b)
}

func isHex(c byte) bool { return strings.IndexByte("0123456789abcdefABCDEF", c) >= 0 }

// Apply returns u with the data added to its query.
func (f *queryFlags) Apply(u uri.URI) (uri.URI, error) {
	if len(f.data) == 0 {
		return u, nil
	}
	var parts []string
	if query, _ := u.Query(); query != "" {
		parts = append(parts, query)
	}
	for _, d := range f.data {
		parts = append(parts, d.value)
	}
	u, err := u.WithQuery(strings.Join(parts, "&"))
	return u, fetch.BadURL.With(err)
}
