package options

import (
	"strconv"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
)

// Seconds is the value of a flag for a duration in seconds, such as 2.5, or with
// a unit, such as 500ms or 5m.
type Seconds time.Duration

func (s *Seconds) String() string {
	return strconv.FormatFloat(time.Duration(*s).Seconds(), 'g', -1, 64)
}

// Set parses a number of seconds, or a duration with a unit.
func (s *Seconds) Set(text string) error {
	d, ok := ParseSeconds(text)
	if !ok {
		return fetch.Usage.Errorf("not a number of seconds, or a time such as 30s or 5m: %q", text)
	}
	*s = Seconds(d)
	return nil
}

// ParseSeconds parses a number of seconds, such as 2.5, or a duration with a
// unit, such as 500ms. It rejects negative durations and durations of more than
// 10^9 seconds.
func ParseSeconds(text string) (time.Duration, bool) {
	const limit = 1e9
	n, err := strconv.ParseFloat(text, 64)
	if err == nil {
		return time.Duration(n * float64(time.Second)), n >= 0 && n <= limit
	}
	d, err := time.ParseDuration(text)
	return d, err == nil && d >= 0 && d <= limit*time.Second
}

// Type returns the type name that pflag shows in help texts.
func (*Seconds) Type() string { return "seconds" }

// Interval is the value of a flag for the time between two events, such as 30s,
// 5m or a number of seconds.
type Interval time.Duration

func (i *Interval) String() string {
	if *i == 0 {
		return ""
	}
	return time.Duration(*i).String()
}

// Set parses an interval of at least one second.
func (i *Interval) Set(text string) error {
	d, ok := ParseSeconds(text)
	if !ok || d < time.Second {
		return fetch.Usage.Errorf("not an interval of at least one second, such as 30s: %q", text)
	}
	*i = Interval(d)
	return nil
}

// Type returns the type name that pflag shows in help texts.
func (*Interval) Type() string { return "interval" }

// Bytes is the value of a flag for a number of bytes, such as 500, 100k, 2M or
// 1G.
type Bytes int64

func (b *Bytes) String() string { return strconv.FormatInt(int64(*b), 10) }

// Set parses a number of bytes.
func (b *Bytes) Set(text string) error {
	digits := strings.TrimRight(text, "bBkKmMgGtT")
	shift := 0
	switch strings.ToLower(text[len(digits):]) {
	case "", "b":
	case "k":
		shift = 10
	case "m":
		shift = 20
	case "g":
		shift = 30
	case "t":
		shift = 40
	default:
		return fetch.Usage.Errorf("not a number of bytes: %q", text)
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 0 || n > 1<<62>>shift {
		return fetch.Usage.Errorf("not a number of bytes: %q", text)
	}
	*b = Bytes(n << shift)
	return nil
}

// Type returns the type name that pflag shows in help texts.
func (*Bytes) Type() string { return "bytes" }

// Share is the value of a flag for a fraction of a total, such as 0.1 or 10%.
type Share float64

func (s *Share) String() string { return strconv.FormatFloat(float64(*s)*100, 'g', -1, 64) + "%" }

// Set parses a fraction greater than 0 and at most 1, such as 0.1 or 10%.
func (s *Share) Set(text string) error {
	number, percent := strings.CutSuffix(text, "%")
	n, err := strconv.ParseFloat(number, 64)
	if percent {
		n /= 100
	}
	if err != nil || !(n > 0 && n <= 1) {
		return fetch.Usage.Errorf("not a share such as 10%% or 0.1: %q", text)
	}
	*s = Share(n)
	return nil
}

// Type returns the type name that pflag shows in help texts.
func (*Share) Type() string { return "share" }
