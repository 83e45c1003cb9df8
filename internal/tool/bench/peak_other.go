//go:build !linux

package main

import "errors"

func resetPeak() {}

// peak returns 0 on this system, where benchmarks do not measure memory.
func peak(any) float64 { return 0 }

func peakOf(int) (float64, error) { return 0, errors.ErrUnsupported }
