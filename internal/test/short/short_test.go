package short

import (
	"fmt"
	"testing"
)

// TestSelects checks the share of the selected cases.
func TestSelects(t *testing.T) {
	for _, n := range []uint64{1, 2, 3, 10} {
		selected := 0
		for i := range 3000 {
			if selects(fmt.Sprint("TestX/case ", i), n) {
				selected++
			}
		}
		if want := 3000 / int(n); selected < want*9/10 || selected > want*11/10 {
			t.Errorf("%d of 3000 cases selected, want %d", selected, want)
		}
	}
}
