package mirror

// restoreMark sets the mark of a newsgroup to the mark in the archive. The
// driver may have read further in a run that was not committed.
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

// saveMark copies the mark of a newsgroup from the driver into v. If articles
// were omitted, the earlier mark is kept, so that the next run lists the
// articles again.
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
