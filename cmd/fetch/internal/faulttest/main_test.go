// Package faulttest tests the built command when a system call fails, a disk is
// full, memory is limited, or a signal ends the process.
package faulttest

import (
	"testing"

	"github.com/anyurl/fetch/cmd/fetch/internal/commandtest"
)

func TestMain(m *testing.M) { commandtest.Main(m) }
