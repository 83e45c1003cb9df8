package listing

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/format/linesort"
	"github.com/spf13/pflag"
)

// An Order contains the flags that sort the entries of a listing. The zero value
// keeps the order of the server.
type Order struct {
	by      string // name, time or size, or "" for the order of the server
	reverse bool
}

// orderKeys are the values of --sort.
var orderKeys = [...]string{"name", "time", "size"}

// Register registers --sort and --reverse.
func (o *Order) Register(p *pflag.FlagSet) {
	p.StringVar(&o.by, "sort", "", "`KEY`: sort by name, time or size; newest, largest first")
	options.SetValues(p.Lookup("sort"), orderKeys[:]...)
	p.BoolVar(&o.reverse, "reverse", false, "reverse the order of --sort (default name)")
}

// RegisterLetters registers the letters of ls: -t sorts by time, and -r is
// --reverse. It must be called after Register.
func (o *Order) RegisterLetters(p *pflag.FlagSet) {
	p.Lookup("reverse").Shorthand = "r"
	p.FuncP("sort-by-time", "t", "like --sort time", func(string) error {
		o.by = "time"
		return nil
	})
	p.Lookup("sort-by-time").NoOptDefVal = "true"
}

// Validate checks the value of --sort.
func (o *Order) Validate() error {
	if o.by != "" && !slices.Contains(orderKeys[:], o.by) {
		return fetch.Usage.Errorf("--sort is name, time or size, not %q", o.by)
	}
	if o.reverse && o.by == "" {
		o.by = "name"
	}
	return nil
}

// IsSet reports whether entries are sorted.
func (o *Order) IsSet() bool { return o.by != "" }

// By reports whether entries are sorted by the key: name, time or size.
func (o *Order) By(key string) bool { return o.by == key }

// WriteAll writes the entries of a listing to out in this order. A sorted listing
// has no lines of text, because their place is lost. If the listing ends with an
// error, the entries before it are written too.
func (o *Order) WriteAll(write Writer, out io.Writer, all iter.Seq2[fetch.Entry, error]) error {
	if !o.IsSet() {
		return write.WriteAll(out, all)
	}
	lines := NewSorter(*o)
	defer lines.Close()
	var failed error
	for e, err := range all {
		if err == nil && e.Kind != fetch.Info {
			err = lines.Add(e, write)
		}
		if err != nil {
			failed = err
			break
		}
	}
	return console.FlushAfter(failed, func() error { return lines.Flush(out) })
}

// A Sorter collects the lines of entries and writes them in an Order. It has a
// constant amount of memory. The caller must call Close.
type Sorter struct {
	order Order
	lines linesort.Sorter
	count int
	line  bytes.Buffer
}

// NewSorter returns a Sorter without lines. The order must be set.
func NewSorter(order Order) *Sorter { return &Sorter{order: order} }

// Add adds the lines that write writes for e.
func (s *Sorter) Add(e fetch.Entry, write Writer) error {
	s.line.Reset()
	// The number keeps equal lines, and the order of equal entries.
	fmt.Fprintf(&s.line, "%s%016x", s.order.key(e), s.count)
	s.count++
	start := s.line.Len()
	if err := write(&s.line, e); err != nil {
		return err
	}
	line := s.line.Bytes()
	for i := start; i < len(line); i++ {
		if line[i] == '\n' { // a Sorter sorts lines, and an entry can have two
			line[i] = 0
		}
	}
	return console.LocalError(s.lines.Add(line))
}

// maxSortedName is the number of bytes of a name that are compared.
const maxSortedName = 1024

// key returns the key of an entry, which ends with a character that is not part
// of it. Entries without a time or a size have the greatest key.
func (o *Order) key(e fetch.Entry) string {
	var number [12]byte
	known := true
	switch o.by {
	case "time":
		known = !e.Time.IsZero()
		binary.BigEndian.PutUint64(number[:], uint64(e.Time.Unix())^1<<63)
		binary.BigEndian.PutUint32(number[8:], uint32(e.Time.Nanosecond()))
	case "size":
		known = e.Size >= 0
		binary.BigEndian.PutUint64(number[:], uint64(e.Size))
	}
	name, group, end := []byte(e.Name[:min(len(e.Name), maxSortedName)]), "0", byte(keyEnd)
	if o.reverse {
		invert(name)
		end = reversedKeyEnd
	} else {
		invert(number[:])
	}
	if !known {
		group = "1"
	}
	return group + hex.EncodeToString(number[:]) + hex.EncodeToString(name) + string(rune(end))
}

// A key ends with a byte that is less than all hexadecimal digits, or greater in
// a reversed order. The text of an entry contains neither of them.
const (
	keyEnd         = 1
	reversedKeyEnd = 'g'
)

// invert replaces each byte by its complement, which reverses the order of texts.
func invert(text []byte) {
	for i := range text {
		text[i] = ^text[i]
	}
}

// Flush writes all lines in order. The caller must not call Add after Flush.
func (s *Sorter) Flush(out io.Writer) error {
	w := bufio.NewWriter(out)
	for line, err := range s.lines.Sorted() {
		if err != nil {
			return console.LocalError(err)
		}
		n := bytes.IndexAny(line, string([]byte{keyEnd, reversedKeyEnd}))
		text := bytes.TrimSuffix(line[n+1+16:], []byte("\n"))
		for i := range text {
			if text[i] == 0 {
				text[i] = '\n'
			}
		}
		if _, err := w.Write(text); err != nil {
			return console.LocalError(err)
		}
	}
	return console.LocalError(w.Flush())
}

// Close removes the temporary files of the Sorter.
func (s *Sorter) Close() error { return s.lines.Close() }
