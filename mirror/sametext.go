package mirror

import (
	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/mirror/internal/trap"
)

// limitSameText removes the URLs from d.items that exceed Limits.SameText. URLs
// count if the page is the first page that contains a link to them.
func (d *discovery) limitSameText() {
	if d.text == nil || d.err != nil || len(d.items) == 0 {
		return
	}
	text, ok := d.text.Sum()
	if !ok || !d.c.sameText.IsRepeated(text) {
		return
	}
	keys := make([]frontier.Key, len(d.items))
	for i := range d.items {
		keys[i] = d.items[i].Key
	}
	known, err := d.c.queue.Metas(d.ctx, keys)
	if err != nil {
		d.err = err
		return
	}
	limit := limitOr(d.c.o.Limits.SameText, defaultSameText)
	kept := d.items[:0]
	for _, it := range d.items {
		old, ok := known[it.Key]
		counts := !ok || metaOf(frontier.Item{Meta: old}).From == d.from
		if counts && !d.c.sameText.Admit(text, d.v.item.Key, it.Key, trap.LooksRandom(it.URL), limit) && !ok {
			d.v.leftOut[OverSameText]++
			continue
		}
		kept = append(kept, it)
	}
	d.items = kept
	if n := d.v.leftOut[OverSameText]; n > 0 && d.v.note == "" {
		d.v.note = "links of too many pages with the same text were omitted"
	}
}
