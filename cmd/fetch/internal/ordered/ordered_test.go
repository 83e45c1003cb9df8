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

// TestTurn checks when the turn of a slot begins.
func TestTurn(t *testing.T) {
	o := New(t.Context(), &bytes.Buffer{})
	slots := []*Slot{o.Slot(), o.Slot(), o.Slot()}
	began := func(s *Slot) bool {
		select {
		case <-s.Turn():
			return true
		default:
			return false
		}
	}
	for _, step := range []struct {
		name string
		end  int // slot to end, or -1
		want []bool
	}{
		{"start", -1, []bool{true, false, false}},
		{"a later slot ends first", 1, []bool{true, false, false}},
		{"the first slot ends", 0, []bool{true, true, true}},
		{"the last slot ends", 2, []bool{true, true, true}},
	} {
		if step.end >= 0 {
			if err := slots[step.end].End(); err != nil {
				t.Fatal(err)
			}
		}
		for i, s := range slots {
			if got := began(s); got != step.want[i] {
				t.Errorf("%s: slot %d: got %t, want %t", step.name, i, got, step.want[i])
			}
		}
	}
	if len(o.turns) > 0 {
		t.Errorf("%d channels are left", len(o.turns))
	}
}
