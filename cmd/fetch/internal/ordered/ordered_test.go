package ordered

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
)

// TestOrdered writes 500 slots in a random interleaving. The stream must
// contain each slot in one piece and in order.
func TestOrdered(t *testing.T) {
	var got bytes.Buffer
	o := New(t.Context(), &got)
	var want strings.Builder
	var all sync.WaitGroup
	limit := make(chan struct{}, 16)
	for i := range 500 {
		s := o.Slot()
		size := rand.IntN(2000)
		if i%50 == 0 {
			size = 3 * maxSlotBuffer // exceeds the buffer
		}
		body := strings.Repeat(fmt.Sprint(i%10), size)
		want.WriteString(body)
		limit <- struct{}{}
		all.Go(func() {
			defer func() { <-limit }()
			for chunk := range strings.SplitSeq(body, "") {
				if len(body) > 5000 {
					chunk = body
				}
				if _, err := s.Write([]byte(chunk)); err != nil {
					t.Error(err)
				}
				if len(body) > 5000 {
					break
				}
			}
			if err := s.End(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got.String() != want.String() {
		t.Errorf("got %d bytes, want %d, or in another order", got.Len(), want.Len())
	}
}

// TestOrderedCanceled checks that a waiting writer fails when its context ends.
func TestOrderedCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	o := New(ctx, &bytes.Buffer{})
	o.Slot()
	waiting := o.Slot()
	cancel()
	if _, err := waiting.Write(make([]byte, maxSlotBuffer+1)); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}
