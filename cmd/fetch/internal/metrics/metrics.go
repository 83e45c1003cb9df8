// Package metrics serves metrics to Prometheus over HTTP.
//
// A [Family] is a metric with its samples. [Serve] answers requests for
// /metrics with all families, in the text format of Prometheus, version 0.0.4.
package metrics

import (
	"bytes"
	"strconv"
	"strings"
)

// A Type is the type of a metric.
type Type string

const (
	Counter Type = "counter" // a number that only grows while the process runs; its name ends in _total
	Gauge   Type = "gauge"   // a number that can also decrease
)

// A Family is a metric. Its Name consists of ASCII letters, digits and
// underscores. The Help is one sentence.
type Family struct {
	Name    string
	Type    Type
	Help    string
	Label   string // name of the label of all samples, or "" without a label
	Samples []Sample
}

// A Sample is a value of a Family. Two samples of a Family have different
// labels.
type Sample struct {
	Label string // value of the label, which can contain any bytes
	Value float64
}

// Single returns a Family with one sample without a label.
func Single(name string, t Type, help string, value float64) Family {
	return Family{Name: name, Type: t, Help: help, Samples: []Sample{{Value: value}}}
}

// Encode returns families in the text format of Prometheus.
func Encode(families []Family) []byte {
	var b bytes.Buffer
	for i := range families {
		families[i].write(&b)
	}
	return b.Bytes()
}

// helpEscapes and labelEscapes escape the characters that the text format
// reserves.
var (
	helpEscapes  = strings.NewReplacer(`\`, `\\`, "\n", `\n`)
	labelEscapes = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)
)

func (f *Family) write(b *bytes.Buffer) {
	b.WriteString("# HELP " + f.Name + " " + helpEscapes.Replace(f.Help) + "\n")
	b.WriteString("# TYPE " + f.Name + " " + string(f.Type) + "\n")
	for _, s := range f.Samples {
		b.WriteString(f.Name)
		if f.Label != "" {
			b.WriteString("{" + f.Label + `="` + labelEscapes.Replace(strings.ToValidUTF8(s.Label, "\uFFFD")) + `"}`)
		}
		b.WriteString(" " + strconv.FormatFloat(s.Value, 'f', -1, 64) + "\n")
	}
}
