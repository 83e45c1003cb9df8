package mirror

// restoreMark passes the archived mark of a newsgroup to the driver. The mark
// is the position up to which articles were listed. The driver may have a later
// mark from a run that was not committed. If the archive has lost the listing,
// all articles are listed again.
func (c *crawl) restoreMark(v *visit) {
	if c.o.Marks == nil || !isGroup(v.scheme, v.url) {
		return
	}
	mark := ""
	if last := v.item.LastCapture; last != nil && !c.archive.LacksFile(last) && !c.archive.LostRecord(last) {
		mark = last.Validator
	}
	c.o.Marks.SetMark(v.url, mark)
}

// saveMark stores the mark of a newsgroup in the visit. The mark is the
// position up to which articles were listed. If articles were omitted, saveMark
// stores the earlier mark, so that the next run lists the articles again.
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
