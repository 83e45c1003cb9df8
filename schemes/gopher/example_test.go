package gopher_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/gopher"
	"github.com/anyurl/fetch/uri"
)

// This example prints the request line for a search URL. It uses no network.
func ExampleSchemes() {
	client := fetch.New(fetch.Options{}, gopher.Schemes(gopher.Options{})...)
	defer client.Close()
	index := uri.MustParse("gopher://gopher.example.org/7/find")
	found, err := client.Query(index, fetch.Search{Words: "blue moon"})
	if err != nil {
		fmt.Println(err)
		return
	}
	steps, err := client.Plan(&fetch.Request{URL: found})
	fmt.Println(found)
	fmt.Printf("%q %v\n", steps[0].Arg, err)
	// Output:
	// gopher://gopher.example.org/7/find%09blue%20moon
	// "/find\tblue moon" <nil>
}

// This example answers one field by its name. The other fields get the default
// values of the form.
func ExampleForm_Fill() {
	options := gopher.Options{FillForm: func(ctx context.Context, f gopher.Form) ([]string, error) {
		return f.Fill(map[string]string{"your name": "Alice"}, nil)
	}}
	answers, err := options.FillForm(context.Background(), gopher.Form{
		{Kind: gopher.Note, Prompt: "A survey"},
		{Kind: gopher.Line, Prompt: "Your name?"},
		{Kind: gopher.Choice, Prompt: "Colour", Default: "red", Choices: []string{"red", "green"}},
	})
	fmt.Println(strings.Join(answers, ","), err)
	// Output: ,Alice,red <nil>
}
