package listing

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/cmd/fetch/internal/terminal"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/tty"
	"github.com/spf13/pflag"
)

// WriteMenu writes a numbered listing to a terminal. Each line shows the kind
// and the name of an entry.
func WriteMenu(w io.Writer, resp *fetch.Response) error {
	lines := bufio.NewWriter(w)
	n := 0
	for e, err := range resp.Entries() {
		if err != nil {
			lines.Flush()
			return err
		}
		if e.Kind == fetch.Info {
			fmt.Fprintf(lines, "%16s%s\n", "", tty.Escape(e.Name))
			continue
		}
		n++
		fmt.Fprintf(lines, "%4d %-10s %s\n", n, e.Kind, tty.Escape(e.Name))
	}
	return console.LocalError(lines.Flush())
}

// WriteNames writes the names of the entries in a listing, one per line.
func WriteNames(w io.Writer, resp *fetch.Response) error {
	lines := bufio.NewWriter(w)
	for e, err := range resp.Entries() {
		if err != nil {
			return err
		}
		if _, err := lines.WriteString(tty.Escape(e.Name) + "\n"); err != nil {
			return console.LocalError(err)
		}
	}
	return console.LocalError(lines.Flush())
}

// An Writer writes one entry of a listing.
type Writer func(io.Writer, fetch.Entry) error

// An AllWriter writes all entries of a listing.
type AllWriter func(io.Writer, iter.Seq2[fetch.Entry, error]) error

// Flags select the format of a listing.
type Flags struct {
	JSON, URLs        bool
	Human             bool // if true, sizes have units also in files and pipes
	long              bool
	withType, withURL bool
}

func (f *Flags) Register(p *pflag.FlagSet, entry string) {
	p.BoolVar(&f.JSON, "json", false, "print each "+entry+" as a line of JSON")
	p.BoolVar(&f.URLs, "urls", false, "print only the URL of each "+entry)
	p.BoolVar(&f.withType, "with-type", false, "print the media type of each "+entry+" too")
	p.BoolVar(&f.withURL, "with-url", false, "print the URL of each "+entry+" too")
}

// RegisterTable registers the flags of ls for the table, which is the default
// format.
func (f *Flags) RegisterTable(p *pflag.FlagSet) {
	p.BoolVarP(&f.long, "long", "l", false, "print kind, size, time and name, as ls -l does (default)")
	p.BoolVarP(&f.Human, "human-readable", "h", false, "print sizes with units, such as 1.5M (default on a terminal)")
}

// Validate rejects flags that exclude each other.
func (f *Flags) Validate() error {
	if f.long && (f.JSON || f.URLs) {
		return fetch.Usage.Errorf("--long excludes --json and --urls")
	}
	return nil
}

// Writer returns the Writer for the format that the flags select. The
// default format is a table. On a terminal, sizes and times are formatted as by
// ls -lh.
func (f *Flags) Writer(out io.Writer) Writer {
	switch {
	case f.JSON:
		return func(w io.Writer, e fetch.Entry) error { return console.Encode(w, e) }
	case f.URLs:
		return writeEntryURL
	case terminal.Is(out):
		lines := Format{Width: terminal.Width(out), Color: terminal.Colors(out), Palette: EnvironmentPalette(), Links: terminal.Hyperlinks(out), Now: time.Now(),
			Scheme: console.SchemeByName(), Type: f.withType, URL: f.withURL}
		return func(w io.Writer, e fetch.Entry) error {
			_, err := fmt.Fprintln(w, lines.Line(e))
			return err
		}
	}
	return f.writeEntry
}

func writeEntryURL(w io.Writer, e fetch.Entry) error {
	if e.URL.IsZero() {
		return nil
	}
	_, err := fmt.Fprintln(w, e.URL)
	return err
}

// writeEntry writes the kind, size, time and name of an entry as one line. A
// description, the media type and the URL follow, each after a TAB. Control
// characters are escaped.
func (f *Flags) writeEntry(w io.Writer, e fetch.Entry) error {
	name := tty.Escape(e.Name)
	if description, _, _ := strings.Cut(e.Extra["description"], "\n"); description != "" {
		name += "\t" + tty.Escape(description)
	}
	if f.withType {
		name += "\t" + cmp.Or(tty.Escape(e.Media), "-")
	}
	if f.withURL {
		name += "\t" + cmp.Or(tty.Escape(e.URL.String()), "-")
	}
	return WriteRow(w, e, name, f.Human)
}

// WriteRow writes the kind, size and time of an entry and an escaped name as one
// line. The size has a unit if human is true.
func WriteRow(w io.Writer, e fetch.Entry, name string, human bool) error {
	size, modified := Size(e.Size), "-"
	if e.Size >= 0 && !human {
		size = strconv.FormatInt(e.Size, 10)
	}
	if !e.Time.IsZero() {
		modified = e.Time.UTC().Format(time.RFC3339)
	}
	_, err := fmt.Fprintf(w, "%-8s %12s %-20s %s\n", e.Kind, size, modified, name)
	return err
}

// WriteCapture writes the date, status, size, digest and media type of a
// capture as one line. If the record could not be read, the error follows after
// a TAB.
func WriteCapture(w io.Writer, e fetch.Entry) error {
	size := "-"
	if e.Size >= 0 {
		size = strconv.FormatInt(e.Size, 10)
	}
	or := func(text string) string { return tty.Escape(cmp.Or(text, "-")) }
	media := or(e.Media)
	if text := e.Extra["error"]; text != "" {
		media += "\t" + tty.Escape(text)
	}
	_, err := fmt.Fprintf(w, "%s %-3s %12s %-37s %s\n", e.Time.UTC().Format(time.RFC3339), or(e.Extra["status"]), size,
		or(e.Extra["digest"]), media)
	return err
}

// Limit returns an Writer that stops after n entries, because some servers
// return more results than requested. If n is zero, the number is not limited.
func (write Writer) Limit(n int) Writer {
	return func(w io.Writer, e fetch.Entry) error {
		err := write(w, e)
		if e.Kind == fetch.Info {
			return err
		}
		if n--; n == 0 && err == nil {
			err = errLimit
		}
		return err
	}
}

var errLimit = errors.New("limit of entries reached")

// WriteAll writes all entries of a listing to out.
func (write Writer) WriteAll(out io.Writer, all iter.Seq2[fetch.Entry, error]) error {
	w := bufio.NewWriter(out)
	for e, err := range all {
		if err == nil {
			err = console.LocalError(write(w, e))
		}
		if errors.Is(err, errLimit) {
			break
		}
		if err != nil {
			w.Flush()
			return err
		}
	}
	return console.LocalError(w.Flush())
}
