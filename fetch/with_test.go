package fetch_test

import (
	"context"
	"net/http"
	"slices"
	"testing"

	"github.com/anyurl/fetch/fetch"
)

// TestWith checks that a derived Client calls the middlewares in order, shares
// the driver of its origin, leaves the origin unchanged, and closes with it.
func TestWith(t *testing.T) {
	var calls []string
	opened := 0
	note := func(name string) fetch.Middleware {
		return func(next fetch.Driver) fetch.Driver {
			return fetch.DriverFunc(func(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
				calls = append(calls, name)
				return next.Do(ctx, req)
			})
		}
	}
	scheme := fetch.Scheme{Name: "x", Open: func(fetch.Env) fetch.Driver {
		opened++
		return fetch.DriverFunc(func(context.Context, *fetch.Request) (*fetch.Response, error) {
			calls = append(calls, "driver")
			return &fetch.Response{Body: http.NoBody}, nil
		})
	}}
	origin := fetch.New(fetch.Options{Policy: fetch.Typed(), Wrap: []fetch.Middleware{note("outer"), note("inner")}}, scheme)
	derived := origin.With(note("added"), note("last"))
	for _, c := range []struct {
		client *fetch.Client
		want   []string
	}{
		{derived, []string{"outer", "inner", "added", "last", "driver"}},
		{origin, []string{"outer", "inner", "driver"}},
		{derived.With(), []string{"outer", "inner", "added", "last", "driver"}},
	} {
		calls = nil
		resp, err := c.client.Get(t.Context(), "x:y")
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if !slices.Equal(calls, c.want) {
			t.Errorf("calls %v, want %v", calls, c.want)
		}
	}
	if opened != 1 {
		t.Errorf("the driver was opened %d times, want once", opened)
	}
	derived.Close()
	origin.Close()
	if _, err := origin.Get(t.Context(), "x:y"); fetch.FaultOf(err) != fetch.Usage {
		t.Errorf("request of a closed client: %v", err)
	}
}
