package gopher

import (
	"context"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/tty"
)

// A view is a representation of an item, such as a media type and a language.
// The +VIEWS attribute contains one line for each view.
type view struct {
	name        string // name in a request, such as "Text/plain En_US"
	media, lang string // in lower case
}

// views parses the lines of the +VIEWS attribute, such as "Text/plain En_US:
// <2k>".
func (a attributes) views() (all []view) {
	for _, l := range a.lines("VIEWS") {
		name, _, _ := strings.Cut(l, ":")
		if name = strings.TrimSpace(name); name == "" || breaksLine(name) || strings.Contains(name, "\t") {
			continue // the name could not be sent in a request line
		}
		media, lang, _ := strings.Cut(strings.ToLower(name), " ")
		all = append(all, view{name, media, strings.TrimSpace(lang)})
	}
	return all
}

// selectView requests the views of an item and returns the command for the
// first view that matches the Options.
func (d *driver) selectView(ctx context.Context, req *fetch.Request, l locator) (command, error) {
	a, _, err := d.requestAttributes(ctx, req, l)
	if err != nil {
		return command{}, err
	}
	all := a.views()
	for _, v := range all {
		if d.options.matches(v) {
			return command{verb: '+', arg: v.name}, nil
		}
	}
	if len(all) == 0 {
		return command{}, fetch.NotFound.Errorf("item has no views")
	}
	names := make([]string, len(all))
	for i, v := range all {
		names[i] = tty.Escape(v.name)
	}
	return command{}, fetch.NotFound.Errorf("no view matches; available views: %s", strings.Join(names, ", "))
}

// matches reports whether a Gopher+ view matches Options.View and Options.Lang.
// An empty option matches all views.
func (o Options) matches(v view) bool {
	media, lang := strings.ToLower(o.View), strings.ToLower(strings.ReplaceAll(o.Lang, "-", "_"))
	_, sub, _ := strings.Cut(v.media, "/")
	general, _, _ := strings.Cut(v.lang, "_")
	return (media == "" || media == v.media || media == sub) && (lang == "" || lang == v.lang || lang == general)
}
