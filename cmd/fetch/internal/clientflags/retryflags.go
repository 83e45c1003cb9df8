package clientflags

import (
	"context"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/wrap"
	"github.com/spf13/pflag"
)

// retryFlags are the flags that control retries of failed requests.
type retryFlags struct {
	Set       *pflag.FlagSet
	Retries   int
	delay     options.Seconds
	totalTime options.Seconds
	allErrors bool
}

func (f *retryFlags) register(s *options.Set) {
	p := s.Section("Retries and limits")
	f.Set = p
	p.IntVar(&f.Retries, "retry", 3, "retry up to `N` times after transient errors")
	p.Var(&f.delay, "retry-delay", "wait `SECONDS` before each retry (default: increasing delays)")
	p.Var(&f.totalTime, "retry-max-time", "stop retrying after `SECONDS`")
	p.BoolVar(&f.allErrors, "retry-all-errors", false, "retry after all errors except local ones")
	p.Func("tries", "make up to `N` attempts, as in wget", f.setTries)
	p.Lookup("tries").Hidden = true
}

// setTries sets the number of retries from wget's number of attempts. As in
// wget, 0 and inf mean no limit.
func (f *retryFlags) setTries(text string) error {
	n, err := strconv.ParseUint(text, 10, 31)
	switch {
	case text == "inf" || err == nil && n == 0:
		f.Retries = math.MaxInt32
	case err != nil:
		return fetch.Usage.Errorf("not a number of attempts: %q", text)
	default:
		f.Retries = int(n) - 1
	}
	return nil
}

// Options converts the flags to options of the Retry middleware, which calls
// notify before each retry.
func (f *retryFlags) Options(notify func(context.Context, wrap.Attempt)) wrap.RetryOptions {
	return wrap.RetryOptions{
		Attempts:  max(f.Retries, 0) + 1,
		Delay:     time.Duration(f.delay),
		Total:     time.Duration(f.totalTime),
		AllErrors: f.allErrors,
		Notify:    notify,
	}
}

// limitFlags are the flags that limit the time, size and speed of transfers.
type limitFlags struct {
	Set            *pflag.FlagSet
	MaxTime        options.Seconds
	connectTimeout options.Seconds
	MaxFilesize    options.Bytes
	Rate           options.Bytes
	speedLimit     options.Bytes
	speedTime      options.Seconds
	PerHost        int
	Delay          options.Seconds
}

func (f *limitFlags) register(s *options.Set) {
	p := s.Section("Retries and limits")
	f.Set = p
	p.VarP(&f.MaxTime, "max-time", "m", "allow at most `SECONDS` for each URL, including retries")
	p.Var(&f.connectTimeout, "connect-timeout", "allow at most `SECONDS` for each connection attempt")
	p.Var(&f.MaxFilesize, "max-filesize", "reject files larger than `BYTES` (suffixes: k, M, G)")
	p.Var(&f.Rate, "limit-rate", "limit the total download speed to `BYTES` per second")
	f.speedLimit, f.speedTime = 1024, options.Seconds(time.Minute)
	p.VarP(&f.speedLimit, "speed-limit", "Y", "fail if fewer `BYTES` per second arrive (0: no limit)")
	p.VarP(&f.speedTime, "speed-time", "y", "measure the speed over `SECONDS`")
	p.IntVar(&f.PerHost, "per-host", 6, "open at most `N` connections to each host")
	p.Var(&f.Delay, "delay", "wait `SECONDS` between requests to the same host")
	p.Func("rate", "send at most `N/UNIT` requests to each host (s, m, h or d)", f.setRate)
}

// applySpeed sets the minimum transfer rate and the idle time of the policy p.
// As in curl, --speed-time 0 turns both limits off.
func (f *limitFlags) applySpeed(p *fetch.Policy) {
	p.MinRate, p.Idle = int64(f.speedLimit), time.Duration(f.speedTime)
	if p.Idle == 0 {
		p.MinRate, p.Idle = -1, -1
	}
	if p.MinRate == 0 {
		p.MinRate = -1
	}
}

// setRate sets --delay from a number of requests per unit of time.
func (f *limitFlags) setRate(text string) error {
	number, unit, _ := strings.Cut(text, "/")
	n, err := strconv.ParseUint(number, 10, 31)
	every := strings.TrimLeft(unit, "0123456789")
	units := uint64(1)
	var err2 error
	if count := strings.TrimSuffix(unit, every); count != "" {
		units, err2 = strconv.ParseUint(count, 10, 31)
	}
	seconds, ok := map[string]float64{"": 3600, "s": 1, "m": 60, "h": 3600, "d": 86400}[every]
	if err != nil || err2 != nil || n == 0 || units == 0 || !ok {
		return fetch.Usage.Errorf("not a number of requests such as 10/s, 10/m or 10/h: %q", text)
	}
	return f.Set.Set("delay", strconv.FormatFloat(seconds*float64(units)/float64(n), 'f', -1, 64))
}
