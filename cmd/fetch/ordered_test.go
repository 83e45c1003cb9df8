package main

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

// TestOrdered: however the writers are mixed, each comes whole and in order.
func TestOrdered(t *testing.T) {
	var got bytes.Buffer
	o := newOrdered(t.Context(), &got)
	var want strings.Builder
	var all sync.WaitGroup
	limit := make(chan struct{}, 16)
	for i := range 500 {
		s := o.slot()
		size := rand.IntN(2000)
		if i%50 == 0 {
			size = 3 * maxHeld // more than is held
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
			if err := s.end(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got.String() != want.String() {
		t.Errorf("got %d bytes, want %d, or in another order", got.Len(), want.Len())
	}
}

func TestOrderedEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	o := newOrdered(ctx, &bytes.Buffer{})
	o.slot()
	late := o.slot()
	cancel()
	if _, err := late.Write(make([]byte, maxHeld+1)); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
