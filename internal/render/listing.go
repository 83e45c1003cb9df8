package render

import (
	"cmp"
	"context"
	"io"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/media"
	"github.com/anyurl/fetch/internal/tty"
)

// listing writes the entries of a menu, a directory or a newsgroup as a table.
func (v *View) listing(ctx context.Context, w io.Writer) error {
	if err := execute(w, "listing", v.Page); err != nil {
		return err
	}
	problem := ""
	for e, err := range v.Scheme.Menu(v.URL, v.Response.Media, v.Response.Body) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			problem = "The listing is incomplete. " + v.Problem(err)
			break
		}
		if err := execute(w, "entry", v.entryRow(e)); err != nil {
			return err
		}
	}
	return execute(w, "endtable", problem)
}

type entryRow struct{ Name, Path, Kind, Size, Date string }

// entryRow returns the row of an entry.
func (v *View) entryRow(e fetch.Entry) entryRow {
	row := entryRow{Name: tty.Escape(cmp.Or(e.Name, e.URL.String())), Size: FormatSize(e.Size), Date: FormatDate(e.Time)}
	if e.URL.IsZero() {
		row.Name, row.Size = tty.Escape(e.Name), ""
		return row
	}
	row.Kind = cmp.Or(tty.Escape(media.TrimParameters(e.Media)), e.Kind.String())
	row.Path = v.Links.Page(e.URL.WithoutUserinfo())
	return row
}
