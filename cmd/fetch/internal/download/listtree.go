package download

import (
	"bufio"

	"github.com/anyurl/fetch/cmd/fetch/internal/clientflags"
	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/cmd/fetch/internal/listing"
	"github.com/anyurl/fetch/cmd/fetch/internal/tree"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/tty"
)

// ListTree writes the entries of the directory at the URL of the job, and of all
// directories below it. If headings is true, the URL of each directory and an
// empty line separate the listings, as in ls -R.
func (j *Job) ListTree(write listing.AllWriter, headings bool) error {
	if clientflags.IsArchive(j.Text) {
		return fetch.Usage.Errorf("--recursive requires a directory: the listing of an archive has all objects")
	}
	req, err := j.NewRequest(j.Argument)
	if err != nil {
		return err
	}
	t, err := tree.Open(j.ctx, j.Client.Client, req, j.fail)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(j.Output)
	first := true
	err = t.Walk(tree.Visitor{Enter: func(n tree.Node) (bool, error) {
		if !n.Dir {
			return false, nil
		}
		if headings {
			heading := tty.Escape(n.Entry.URL.String()) + ":"
			if !first {
				heading = "\n" + heading
			}
			if err := console.WriteLine(out, heading); err != nil {
				return false, console.LocalError(err)
			}
		}
		first = false
		return true, writeDirectory(out, t, n, write)
	}})
	return console.FlushAfter(err, out.Flush)
}

// fail reports an error and continues with the job.
func (j *Job) fail(err error) {
	code := j.Report(j.ctx, err, j.errorSource())
	j.mu.Lock()
	defer j.mu.Unlock()
	j.Tally.Add(code)
}

// writeDirectory writes the entries of a directory. Walk reports the error of a
// directory that cannot be listed.
func writeDirectory(out *bufio.Writer, t *tree.Tree, n tree.Node, write listing.AllWriter) error {
	all, err := t.FS.ReadDir(n.Path)
	if err != nil {
		return nil
	}
	err = write(out, func(yield func(fetch.Entry, error) bool) {
		for _, d := range all {
			if !yield(tree.Child(n, d).Entry, nil) {
				return
			}
		}
	})
	return console.FlushAfter(err, out.Flush)
}
