package warc

import (
	"archive/zip"
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/anyurl/fetch/fetch"
)

// maxIndexFindings is the maximum number of invalid lines that verifyIndex
// reports for one index.
const maxIndexFindings = 100

// verifyIndex checks that each line of an index can be parsed and refers to
// bytes of a WARC file in the WACZ file. It stops after maxIndexFindings invalid
// lines.
func (p *waczCheck) verifyIndex(part *zip.File) error {
	at, _ := part.DataOffset()
	in, err := openIndexPart(part)
	if err != nil {
		return p.report(at, "part %q: %v", part.Name, err)
	}
	defer in.Close()
	found := 0
	for text, err := range indexLines(in, part.Name, &p.limit) {
		if pathErr := (*fs.PathError)(nil); errors.As(err, &pathErr) {
			return fetch.LocalError(err)
		}
		if err != nil {
			return p.report(at, "part %q: %v", part.Name, err)
		}
		problem := p.lineProblem(string(text))
		if problem == "" {
			continue
		}
		if found++; found > maxIndexFindings {
			return p.report(at, "part %q: more than %d lines are invalid", part.Name, maxIndexFindings)
		}
		if err := p.report(at, "part %q: %s", part.Name, problem); err != nil {
			return err
		}
	}
	return nil
}

// lineProblem returns a description of the problem of an index line, or "" if
// the line refers to bytes of a WARC file in the WACZ file.
func (p *waczCheck) lineProblem(text string) string {
	l, err := ParseLine(text)
	if err != nil {
		return err.Error()
	}
	size, ok := p.sizes[path.Base(l.File)]
	switch {
	case !ok:
		return fmt.Sprintf("the line of %.200q refers to the missing file %.200q", l.URL, l.File)
	case l.Offset >= size || l.Length > size-l.Offset:
		return fmt.Sprintf("the line of %.200q refers to %d bytes at offset %d of %q, which has %d bytes",
			l.URL, l.Length, l.Offset, l.File, size)
	}
	return ""
}
