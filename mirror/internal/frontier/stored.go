package frontier

import "iter"

// A Stored is a Capture that has a WARC record, together with its row number.
type Stored struct {
	Row int64 // row number in the table of captures, for Move.Row
	Capture
}

// A Move describes a WARC record that was moved or lost.
type Move struct {
	Row    int64
	Offset int64 // new value of Capture.Offset
	Length int64 // new value of Capture.Length
	Lost   bool  // if true, the record was lost
}

// A Seal describes the digests that Frontier.Seal has stored.
type Seal struct {
	Rows     bool   // if true, the database is unchanged since the call of Frontier.Seal
	Manifest []byte // digest that the caller passed to Frontier.Seal, or nil
}

// An ExportedTable contains the rows of a table, so that the caller can copy
// them to another database engine.
type ExportedTable struct {
	Name    string
	Columns []string

	// Rows yields the rows, ordered by row number. It reads them in batches.
	// The values of a row are nil, int64, string or []byte. Text from servers
	// is []byte.
	Rows iter.Seq2[[]any, error]
}
