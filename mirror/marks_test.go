package mirror_test

import "github.com/anyurl/fetch/uri"

// noMarks implements mirror.Marks without storing marks, so that groups are
// always read from the start.
type noMarks struct{}

func (*noMarks) Mark(uri.URI) string     { return "" }
func (*noMarks) SetMark(uri.URI, string) {}
