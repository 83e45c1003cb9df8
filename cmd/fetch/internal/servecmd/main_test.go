package servecmd_test

import (
	"testing"

	"github.com/anyurl/fetch/cmd/fetch/internal/commandtest"
)

func TestMain(m *testing.M) { commandtest.Main(m) }
