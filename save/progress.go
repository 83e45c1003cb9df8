package save

import (
	"context"
	"iter"
	"math"
	"strconv"
	"time"

	"github.com/anyurl/fetch/fetch"
)

// A Progress describes a download that [Fetch] performs.
type Progress struct {
	Bytes   int64         // number of bytes of the object that are saved
	Size    int64         // size of the complete object, or -1 if unknown
	Elapsed time.Duration // time since the start of the download
	Rate    float64       // bytes per second, averaged over the last seconds; 0 before the first bytes

	// Result describes the saved file. It is nil until the download has ended.
	Result *Result
}

// Remaining returns the estimated time until the file is complete, rounded to
// seconds. The result ok is false if the time is unknown, because the size or the
// rate is unknown, or if it is more than a year.
func (p Progress) Remaining() (left time.Duration, ok bool) {
	missing := float64(p.Size - p.Bytes)
	const year = 365 * 24 * 3600
	switch {
	case p.Size < 0 || missing < 0:
		return 0, false
	case missing == 0:
		return 0, true
	case p.Rate <= 0 || missing/p.Rate > year:
		return 0, false
	}
	return time.Duration(missing / p.Rate * float64(time.Second)).Round(time.Second), true
}

// String returns a line for people, such as "40000 of 100000 bytes, 8000 bytes/s,
// 8s left". It omits unknown values.
func (p Progress) String() string {
	text := strconv.FormatInt(p.Bytes, 10)
	if p.Size >= 0 {
		text += " of " + strconv.FormatInt(p.Size, 10)
	}
	text += " bytes"
	if p.Rate > 0 {
		text += ", " + strconv.FormatFloat(p.Rate, 'f', 0, 64) + " bytes/s"
	}
	if left, ok := p.Remaining(); ok {
		text += ", " + left.String() + " left"
	}
	return text
}

// Watch downloads an object like [Get] and returns an iterator over the progress
// of the download. The values are those that Options.Progress receives. The
// download runs in the goroutine of the loop, while the loop waits for the next
// value. Each loop over the iterator is a new download.
//
// In the last value, Progress.Result is the result of Get. If Get fails, for
// example because ctx has ended, the last value has its error instead, and the
// progress until then. A loop that ends early cancels the download. The next loop
// resumes it, as the next call of Get does. All files are closed before the last
// value, so that a program may exit when it has an error.
func Watch(ctx context.Context, client *fetch.Client, url, path string) iter.Seq2[Progress, error] {
	return func(yield func(Progress, error) bool) {
		u, err := fetch.ParseURL(url)
		if err != nil {
			yield(Progress{Size: -1}, err)
			return
		}
		d := download{meter: newMeter(nil)}
		last, stopped := Progress{Size: -1}, false
		d.meter.report = func(p Progress) error {
			last = p
			if !yield(p, nil) {
				stopped = true
				return fetch.Canceled.Errorf("the caller ended the download of %s", path)
			}
			return nil
		}
		if _, err := d.run(ctx, client, &fetch.Request{URL: u}, path, Options{Resume: true}); err != nil && !stopped {
			yield(last, err)
		}
	}
}

const (
	progressInterval = 100 * time.Millisecond // minimum time between two reports of a body
	averagingTime    = 5 * time.Second        // time after which a byte has the weight 1/e in Progress.Rate
)

// A meter measures the rate of a download and reports its progress. The zero
// meter reports nothing.
type meter struct {
	report func(Progress) error // may be nil; an error ends the download
	began  time.Time

	last  time.Time // time of the last report
	saved int64     // Progress.Bytes in the last report
	bytes float64   // weighted number of bytes
	time  float64   // weighted time in seconds
}

func newMeter(f func(Progress)) meter {
	m := meter{began: time.Now()}
	if f != nil {
		m.report = func(p Progress) error { f(p); return nil }
	}
	return m
}

// start reports the first Progress of a body.
func (m *meter) start(s State) error {
	m.last, m.saved = time.Now(), s.Offset
	return m.call(s, nil)
}

// update reports the progress of a body unless the last report was recent.
func (m *meter) update(s State) error {
	if m.report == nil {
		return nil
	}
	now := time.Now()
	passed := now.Sub(m.last)
	if passed < progressInterval {
		return nil
	}
	m.add(s.Offset-m.saved, passed)
	m.last, m.saved = now, s.Offset
	return m.call(s, nil)
}

// add adds bytes that were received in the given time to the average.
func (m *meter) add(bytes int64, passed time.Duration) {
	decay := math.Exp(-float64(passed) / float64(averagingTime))
	m.bytes = m.bytes*decay + float64(max(bytes, 0))
	m.time = m.time*decay + passed.Seconds()
}

// end reports the last Progress of a download. The file omits the first bytes
// of the object, whose number is skipped.
func (m *meter) end(r Result, skipped int64) {
	if m.report == nil {
		return
	}
	s := State{Size: -1}
	if !r.Unchanged {
		s.Offset, s.Size = r.Bytes+skipped, r.Bytes+skipped
		m.add(s.Offset-m.saved, max(time.Since(m.last), time.Microsecond))
	}
	m.call(s, &r)
}

func (m *meter) call(s State, r *Result) error {
	if m.report == nil {
		return nil
	}
	p := Progress{Bytes: s.Offset, Size: s.Size, Elapsed: time.Since(m.began), Result: r}
	if m.time > 0 {
		p.Rate = m.bytes / m.time
	}
	return m.report(p)
}
