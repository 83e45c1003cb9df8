package mirror

// remind tells the driver how far a newsgroup was read: by what was committed,
// not by what was read.
func (c *crawl) restoreMark(v *visit) {
	if c.o.Marks == nil || !isGroup(v.scheme, v.url) {
		return
	}
	mark := ""
	if v.item.LastCapture != nil {
		mark = v.item.LastCapture.Validator
	}
	c.o.Marks.SetMark(v.url, mark)
}

// learn asks the driver how far it has read. The mark stays where it was if
// articles were left out: the next run lists them again.
func (c *crawl) saveMark(v *visit) {
	if c.o.Marks == nil || !isGroup(v.scheme, v.url) {
		return
	}
	switch last := v.item.LastCapture; {
	case !v.incomplete:
		v.mark = c.o.Marks.Mark(v.url)
	case last != nil:
		v.mark = last.Validator
	}
}
