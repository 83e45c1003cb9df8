//go:build !linux

package main

// peak returns 0, because the servers of the cases run only on Linux.
func peak(any) float64 { return 0 }
