package gopher

import (
	"context"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/tty"
)

// A view is one form in which an item is to be had: a line of +VIEWS.
type view struct {
	name        string // as it must be asked for, language included
	media, lang string // in lower case
}

// views reads "Text/plain En_US: <2k>".
func (a attributes) views() (all []view) {
	for _, l := range a.lines("VIEWS") {
		name, _, _ := strings.Cut(l, ":")
		if name = strings.TrimSpace(name); name == "" || unsafe(name) || strings.Contains(name, "\t") {
			continue // it would be sent
		}
		media, lang, _ := strings.Cut(strings.ToLower(name), " ")
		all = append(all, view{name, media, strings.TrimSpace(lang)})
	}
	return all
}

// choose asks which views there are, and takes the first that the options
// want.
func (d *driver) choose(ctx context.Context, req *fetch.Request, l locator) (command, error) {
	a, _, err := d.ask(ctx, req, l)
	if err != nil {
		return command{}, err
	}
	all := a.views()
	for _, v := range all {
		if d.options.wants(v) {
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
	return command{}, fetch.NotFound.Errorf("no such view; there is %s", strings.Join(names, ", "))
}

// wants matches the options with a view: a part that is not given matches all.
func (o Options) wants(v view) bool {
	media, lang := strings.ToLower(o.View), strings.ToLower(strings.ReplaceAll(o.Lang, "-", "_"))
	_, sub, _ := strings.Cut(v.media, "/")
	general, _, _ := strings.Cut(v.lang, "_")
	return (media == "" || media == v.media || media == sub) && (lang == "" || lang == v.lang || lang == general)
}
