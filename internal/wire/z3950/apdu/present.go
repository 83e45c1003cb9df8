package apdu

import "github.com/anyurl/fetch/internal/wire/ber"

// The record syntaxes that have a name in URLs (RFC 2056).
const (
	USMARC  = "1.2.840.10003.5.10"
	UNIMARC = "1.2.840.10003.5.1"
	SUTRS   = "1.2.840.10003.5.101"
	OPAC    = "1.2.840.10003.5.102"
	GRS1    = "1.2.840.10003.5.105"
	HTML    = "1.2.840.10003.5.109.3"
	XML     = "1.2.840.10003.5.109.10"
)

// A Present requests records of a result set.
type Present struct {
	Set        string
	First      int64 // position of the first record in the result set, counted from 1
	Count      int64
	ElementSet string // such as "F" or "B"; "" for the choice of the server
	Syntax     string // object identifier; "" for the choice of the server
}

// Encode returns the encoded message.
func (p *Present) Encode() []byte {
	var elements, syntax []byte
	if p.ElementSet != "" {
		elements = ber.Group(19, ber.String(0, p.ElementSet))
	}
	if p.Syntax != "" {
		syntax = ber.Primitive(ber.Context, 104, ber.OIDValue(p.Syntax))
	}
	return ber.Group(tagPresent, ber.String(31, p.Set), ber.Number(30, p.First), ber.Number(29, p.Count), elements, syntax)
}

// A PresentResponse is the reply to a Present.
type PresentResponse struct {
	Records     []Record
	Diagnostics []Diagnostic // reasons why records are missing
}

func (p *PresentResponse) decode(all []ber.Element) (err error) {
	p.Records, p.Diagnostics, err = records(all)
	return err
}

// A Record is a record of a database, or the reason why it is missing.
type Record struct {
	Database   string
	Syntax     string // object identifier
	Data       []byte // bytes of the record, or the BER element of a GRS-1 or OPAC record
	Diagnostic *Diagnostic
}

// A Diagnostic is an error that the server reports in a response.
type Diagnostic struct {
	Set  string // object identifier of the set of codes; usually Bib-1
	Code int64
	Info string // additional information, such as the name of a database
}

// records decodes the records and diagnostics in a response.
func records(all []ber.Element) (found []Record, faults []Diagnostic, err error) {
	for _, e := range all {
		switch {
		case e.Is(28):
			found, err = namedRecords(e)
		case e.Is(130):
			faults, err = diagnostics([]ber.Element{e})
		case e.Is(205):
			var inner []ber.Element
			if inner, err = e.Children(maxRecords); err == nil {
				faults, err = diagnostics(inner)
			}
		}
		if err != nil {
			return nil, nil, err
		}
	}
	return found, faults, nil
}

func namedRecords(e ber.Element) (found []Record, err error) {
	all, err := e.Children(maxRecords)
	if err != nil {
		return nil, err
	}
	for _, named := range all {
		var r Record
		parts, err := named.Children(maxFields)
		if err != nil {
			return nil, err
		}
		for _, part := range parts {
			switch {
			case part.Is(0):
				r.Database, err = text(part)
			case part.Is(1):
				err = r.decode(part)
			}
			if err != nil {
				return nil, err
			}
		}
		found = append(found, r)
	}
	return found, nil
}

// decode decodes the element that contains a record or a diagnostic.
func (r *Record) decode(e ber.Element) error {
	choice, err := e.Only()
	if err != nil {
		return err
	}
	switch inner, err := choice.Only(); {
	case err != nil:
		return err
	case choice.Is(1):
		return r.external(inner)
	case choice.Is(2):
		all, err := diagnostics([]ber.Element{inner})
		if err == nil {
			r.Diagnostic = &all[0]
		}
		return err
	}
	return malformed("record of kind %v", choice)
}

// external decodes the EXTERNAL that contains a record.
func (r *Record) external(e ber.Element) error {
	parts, err := e.Children(maxFields)
	if err != nil {
		return err
	}
	for _, part := range parts {
		switch {
		case part.IsUniversal(ber.OID):
			r.Syntax, err = part.OID()
		case part.Is(0) && r.Syntax == SUTRS:
			var inner ber.Element
			if inner, err = part.Only(); err == nil {
				r.Data, err = inner.Bytes()
			}
		case part.Is(0):
			r.Data = part.Value
		case part.Is(1):
			r.Data, err = part.Bytes()
		}
		if err != nil {
			return err
		}
	}
	if r.Syntax == "" || r.Data == nil {
		return malformed("record without a syntax or without content")
	}
	return nil
}

// diagnostics decodes diagnostics. If the format of a diagnostic is unknown,
// its Code is 0.
func diagnostics(all []ber.Element) (faults []Diagnostic, err error) {
	for _, e := range all {
		var d Diagnostic
		parts, err := e.Children(maxFields)
		if err != nil {
			return nil, err
		}
		for _, part := range parts {
			switch {
			case e.IsUniversal(ber.External):
			case part.IsUniversal(ber.OID):
				d.Set, err = part.OID()
			case part.IsUniversal(ber.Integer):
				d.Code, err = part.Int()
			default:
				d.Info, err = text(part)
			}
			if err != nil {
				return nil, err
			}
		}
		faults = append(faults, d)
	}
	return faults, nil
}
