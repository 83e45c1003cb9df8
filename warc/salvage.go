package warc

import (
	"bufio"
	"bytes"
	"hash/maphash"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/anyurl/fetch/fetch"
)

// A Moved describes a record that Salvage has copied.
type Moved struct {
	From   int64 // offset of the record in the damaged file
	To     int64 // offset of the record in the new file
	Length int64 // bytes of the record in the new file
}

// Salvage copies the intact records of a damaged WARC file of the given size to
// w. It returns the offsets of the records, in the order of the file. Each
// record must be a separate gzip member. If no record is intact, Salvage writes
// nothing.
//
// The copies equal the records, with these exceptions. The warcinfo record gets
// the new file name, and a lost warcinfo record is replaced by a new one with
// the same ID. A record that belongs to the same exchange as a lost record no
// longer refers to the lost record.
func Salvage(w io.Writer, r io.ReaderAt, size int64, name string) ([]Moved, error) {
	s := &salvage{in: r, name: name, seed: maphash.MakeSeed(), buffer: make([]byte, bufferSize)}
	if err := s.scan(size); err != nil || len(s.intact) == 0 {
		return nil, err
	}
	out := bufio.NewWriterSize(w, bufferSize)
	s.out = &countingWriter{w: out}
	s.gzip = gzip.NewWriter(s.out)
	moved, err := s.copyAll()
	if err == nil {
		err = out.Flush()
	}
	return moved, fetch.LocalError(err)
}

// A salvage holds the state of one call of Salvage.
type salvage struct {
	in     io.ReaderAt
	name   string
	seed   maphash.Seed
	buffer []byte
	intact []Moved   // intact records, without the field To
	ids    []uint64  // hashes of the IDs of the intact records, sorted
	info   string    // ID of the lost warcinfo record, or "" if the record is intact
	date   time.Time // date of the first intact record
	out    *countingWriter
	gzip   *gzip.Writer
}

func (s *salvage) hash(id string) uint64 { return maphash.String(s.seed, id) }

// scan finds the intact records.
func (s *salvage) scan(size int64) error {
	in := NewReader(io.NewSectionReader(s.in, 0, size))
	for {
		c := &recordCheck{}
		h, length, err := c.checkNext(in, s.buffer)
		if err == io.EOF {
			slices.Sort(s.ids)
			return nil
		}
		if err != nil {
			return err
		}
		if in.src.form == formARC || in.src.zstd != nil {
			return fetch.Unsupported.Errorf("only WARC files that are compressed with gzip can be repaired")
		}
		if length == 0 || h.sameMember || in.sameMember {
			continue
		}
		if len(s.intact) == 0 && h.Type() != Info {
			s.info, s.date = trimBrackets(h.Get("WARC-Warcinfo-ID")), h.Date()
		}
		s.intact = append(s.intact, Moved{From: h.Offset, Length: length})
		s.ids = append(s.ids, s.hash(h.ID()))
	}
}

// copyAll copies the intact records to out and returns their offsets.
func (s *salvage) copyAll() ([]Moved, error) {
	if s.info != "" {
		block, err := io.ReadAll(FieldList(fetch.Header{
			{Name: "software", Value: software}, {Name: "format", Value: "WARC File Format 1.1"},
			{Name: "description", Value: "replaces a damaged warcinfo record"},
		}))
		if err != nil {
			return nil, err
		}
		if err := s.writeInfo(block); err != nil {
			return nil, err
		}
	}
	for i := range s.intact {
		m := &s.intact[i]
		m.To = s.out.n
		if err := s.copyRecord(*m); err != nil {
			return nil, err
		}
		m.Length = s.out.n - m.To
	}
	return s.intact, nil
}

// writeInfo writes a warcinfo record with the given block.
func (s *salvage) writeInfo(block []byte) error {
	r := &Record{Type: Info, ID: s.info, Media: FieldsMedia, Body: bytes.NewReader(block)}
	r.Fields = fetch.Header{{Name: "WARC-Filename", Value: s.name}}
	r.Date = s.date
	if _, err := r.setDigests(SHA1, s.buffer); err != nil {
		return err
	}
	return s.writeMember(r.appendHead(nil, "", nil), bytes.NewReader(block))
}

// copyRecord copies one record. It changes the header if necessary.
func (s *salvage) copyRecord(m Moved) error {
	in := NewReaderAt(s.in, m.From)
	h, err := in.Next()
	if err != nil {
		return err
	}
	changed := false
	fields := make(fetch.Header, 0, len(h.Fields))
	for _, f := range h.Fields {
		switch {
		case strings.EqualFold(f.Name, "WARC-Filename") && h.Type() == Info && f.Value != s.name:
			f.Value, changed = s.name, true
		case strings.EqualFold(f.Name, "WARC-Concurrent-To"):
			if _, ok := slices.BinarySearch(s.ids, s.hash(trimBrackets(f.Value))); !ok {
				changed = true
				continue
			}
		}
		fields = append(fields, f)
	}
	if !changed {
		_, err := io.CopyBuffer(struct{ io.Writer }{s.out}, io.NewSectionReader(s.in, m.From, m.Length), s.buffer)
		return err
	}
	head := []byte(magic + h.Version + "\r\n")
	for _, f := range fields {
		head = appendField(head, f.Name, f.Value)
	}
	return s.writeMember(append(head, "\r\n"...), in)
}

// writeMember writes a record with the given header and block as a gzip member.
func (s *salvage) writeMember(head []byte, block io.Reader) error {
	s.gzip.Reset(s.out)
	if _, err := s.gzip.Write(head); err != nil {
		return err
	}
	if _, err := io.CopyBuffer(struct{ io.Writer }{s.gzip}, block, s.buffer); err != nil {
		return err
	}
	if _, err := io.WriteString(s.gzip, "\r\n\r\n"); err != nil {
		return err
	}
	return s.gzip.Close()
}

// A RecordVerifier verifies single records of WARC files. It reuses its buffers.
// The zero value is ready to use. A RecordVerifier is not safe for concurrent
// use.
type RecordVerifier struct {
	reader *Reader
	buffer []byte
}

// Verify reads the record at the given offset of a WARC file. It returns the
// header, and reports whether the record is complete and matches its digests.
// The header is nil if it cannot be read.
func (v *RecordVerifier) Verify(r io.ReaderAt, offset int64) (h *Header, intact bool) {
	v.reset(r, offset)
	h, length, err := (&recordCheck{}).checkNext(v.reader, v.buffer)
	v.reader.src.raw, v.reader.src.dictionary = nil, nil
	return h, err == nil && length > 0
}

// Header reads only the header of the record at the given offset. It returns nil
// if the header cannot be read.
func (v *RecordVerifier) Header(r io.ReaderAt, offset int64) *Header {
	v.reset(r, offset)
	h, err := v.reader.Next()
	v.reader.src.raw, v.reader.src.dictionary = nil, nil
	if err != nil {
		return nil
	}
	return h
}

// reset makes the reader start at an offset of r.
func (v *RecordVerifier) reset(r io.ReaderAt, offset int64) {
	raw := io.NewSectionReader(r, offset, 1<<62-offset)
	if v.reader == nil {
		v.reader, v.buffer = &Reader{src: allocateSource(bufferSize)}, make([]byte, 8<<10)
	}
	v.reader.src.reset(raw, offset, minReadSize)
	v.reader.src.dictionary = dictionaryOf(r)
	*v.reader = Reader{src: v.reader.src, end: offset}
}
