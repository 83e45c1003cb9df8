// Package importcmd implements fetch import, which converts the files in which
// browsers store pages to WARC files.
package importcmd

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/anyurl/fetch/cmd/fetch/internal/arguments"
	"github.com/anyurl/fetch/cmd/fetch/internal/command"
	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/regularfile"
	"github.com/anyurl/fetch/warc"
	"github.com/anyurl/fetch/warc/record"
	"github.com/spf13/cobra"
)

// An importCommand converts HAR and MHTML files to a WARC file.
type importCommand struct {
	*console.Streams
	warc string
}

func New(r *command.Tree) *cobra.Command {
	return r.Define(&cobra.Command{
		Use:   "import --warc FILE FILE...",
		Short: "Convert HAR and MHTML files of browsers to a WARC file",
		Long: `import converts HTTP archives (HAR) and pages in the format MHTML to a WARC file,
which all other commands read. Browsers write HAR files in their developer tools, and
MHTML files when they save a page.

An entry of a HAR file becomes a response record and a request record. The header fields
are those of the file, except the values of secret fields such as Cookie. The body is
stored without content coding. A part of an MHTML file becomes a resource record.

Entries without a body or a response, and damaged ones, are skipped and counted. If a
file is damaged, import writes no WARC file. The WARC file must not exist.`,
		Example: command.Examples("fetch import --warc visit.warc.gz visit.har", "fetch import --warc pages.warc.gz *.mhtml && fetch serve pages.warc.gz"),
		Args:    command.MinArgs(1, "HAR or MHTML files"),
	}, &importCommand{Streams: r.Streams})
}

func (c *importCommand) Register(s *options.Set) {
	s.Own("Flags").StringVar(&c.warc, "warc", "", "write the WARC file `FILE`")
	command.RegisterIgnored(s)
}

func (c *importCommand) Run(ctx context.Context, args []string) error {
	if !arguments.IsNewWARC(c.warc) {
		return fetch.Usage.Errorf("fetch import requires --warc FILE, with a name that ends in .warc, .warc.gz or .warc.zst")
	}
	out, err := openOutput(c.warc)
	if err != nil {
		return err
	}
	total := 0
	for _, name := range args {
		n, failed := c.convert(ctx, out.Writer, name)
		if total += n; failed != nil {
			err = fetch.FaultOf(failed).Errorf("%s: %w", name, failed)
			break
		}
	}
	if err == nil && total == 0 {
		err = fetch.Mismatch.Errorf("the files contain no captures")
	}
	return out.close(err)
}

// convert writes the captures of a file. It returns their number.
func (c *importCommand) convert(ctx context.Context, w *warc.Writer, name string) (int, error) {
	f, err := regularfile.Open(name)
	if err != nil {
		return 0, fetch.LocalError(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return 0, fetch.LocalError(err)
	}
	im := newImporter(ctx, w, filepath.Dir(c.warc))
	defer im.free()
	r := bufio.NewReader(f)
	start, _ := r.Peek(64)
	if start = bytes.TrimLeft(start, "\xef\xbb\xbf \t\r\n"); bytes.HasPrefix(start, []byte("{")) {
		err = im.har(r)
	} else {
		err = im.mhtml(r, info.ModTime())
	}
	if len(im.skipped) > 0 {
		var all []string
		for _, reason := range slices.Sorted(maps.Keys(im.skipped)) {
			all = append(all, fmt.Sprintf("%d (%s)", im.skipped[reason], reason))
		}
		c.Note("%s: skipped %s", name, strings.Join(all, ", "))
	}
	if im.cut > 0 {
		c.Note("%s: %d bodies are incomplete, because the browser has stored only a part of them", name, im.cut)
	}
	return im.captures, err
}

// An importer writes the captures of a file to a WARC file.
type importer struct {
	ctx    context.Context
	writer *warc.Writer

	text, body, block record.Spool // of the present capture

	captures int
	skipped  map[string]int // entries by reason
	cut      int            // captures with an incomplete body
}

func newImporter(ctx context.Context, w *warc.Writer, dir string) *importer {
	o := record.Options{TempDir: dir}
	return &importer{ctx: ctx, writer: w, text: o.Spool(), body: o.Spool(), block: o.Spool(), skipped: map[string]int{}}
}

func (im *importer) free() {
	im.text.Free()
	im.body.Free()
	im.block.Free()
}

// write writes the records of a capture.
func (im *importer) write(group ...*warc.Record) error {
	if err := im.ctx.Err(); err != nil {
		return context.Cause(im.ctx)
	}
	if _, err := im.writer.Write(group...); err != nil {
		return err
	}
	im.captures++
	return nil
}

// A damagedError is the reason why an entry is skipped.
type damagedError string

func (e damagedError) Error() string { return string(e) }

// skip counts an entry if err is the reason to skip it. Otherwise it returns err.
func (im *importer) skip(err error) error {
	if reason, ok := errors.AsType[damagedError](err); ok {
		im.skipped[string(reason)]++
		return nil
	}
	return err
}

// decode copies a body in an encoding to the spool.
func (im *importer) decode(r io.Reader) error {
	var failed error
	w := writerFunc(func(p []byte) (n int, err error) {
		n, failed = im.body.Write(p)
		return n, failed
	})
	_, err := io.Copy(w, r)
	switch {
	case failed != nil:
		return fetch.LocalError(failed)
	case err != nil && !errors.Is(err, io.ErrUnexpectedEOF):
		return damagedError("invalid encoding of a body")
	}
	return err
}

type writerFunc func([]byte) (int, error)

func (w writerFunc) Write(p []byte) (int, error) { return w(p) }
