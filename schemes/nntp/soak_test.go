//go:build soak

package nntp_test

import "testing"

func TestSoakOverview(t *testing.T) { checkOverviewMemory(t, 1_000_000) }
