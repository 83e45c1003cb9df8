package gopher

import (
	"context"
	"io"
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
		if name = strings.TrimSpace(name); name == "" {
			continue
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

// ask brings the attributes of an item, and their bytes.
func (d *driver) ask(ctx context.Context, req *fetch.Request, l locator) (attributes, []byte, error) {
	l = l.with(askAll)
	s, err := d.exchange(ctx, req, l)
	if err != nil {
		return nil, nil, err
	}
	defer s.Close()
	resp, err := d.read(req, l, s)
	switch {
	case err != nil:
		return nil, nil, err
	case resp.Fault != nil:
		return nil, nil, resp.Fault
	case !resp.Location.IsZero():
		return nil, nil, fetch.NotFound.Errorf("item has moved to %s", resp.Location)
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAttributes+1))
	if err != nil {
		return nil, nil, err
	}
	for a, err := range items(strings.NewReader(string(text))) {
		return a, text, err
	}
	return nil, text, nil
}

// fill brings the form of an item and has it filled.
func (d *driver) fill(ctx context.Context, req *fetch.Request, l locator) (command, error) {
	a, _, err := d.ask(ctx, req, l)
	if err != nil {
		return command{}, err
	}
	f := parseFields(a.lines("ASK"))
	var answers []string
	switch {
	case len(f) == 0:
		req.Trace.Notef("item has no form after all")
		return command{verb: '+'}, nil
	case d.options.Ask == nil:
		answers, err = f.Fill(nil, nil)
	default:
		answers, err = d.options.Ask(ctx, f)
	}
	if err != nil {
		return command{}, err
	}
	data, err := f.encode(answers)
	return command{verb: '+', filled: true, form: data}, err
}

// stat tells what is known of an item without bringing it. Plain Gopher knows
// nothing, so nothing is asked.
func (d *driver) stat(ctx context.Context, req *fetch.Request, l locator) (*fetch.Response, error) {
	t := typeOf(l.item)
	resp := &fetch.Response{URL: req.URL, Kind: t.kind, Media: mediaOf(l.item, l.selector), Size: -1, Proto: "Gopher", Body: memory("")}
	if t.kind == fetch.Index && l.words != "" {
		resp.Kind = fetch.Menu
	}
	if l.plus.verb == 0 {
		req.Trace.Notef("nothing was asked: gopher knows nothing of an item but its URL; with %%09%%09! behind it Gopher+ may")
		return resp, nil
	}
	a, text, err := d.ask(ctx, req, l)
	if err != nil {
		return nil, err
	}
	resp.Proto, resp.Head, resp.Header, resp.Time = "Gopher+", text, a.header(), a.time()
	if m := a.media(); m != "" {
		resp.Media = m
	}
	return resp, nil
}
