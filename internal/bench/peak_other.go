//go:build !linux

package main

// The servers run on Linux only, and so do the cases.
func peak(any) float64 { return 0 }
