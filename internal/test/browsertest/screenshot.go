package browsertest

import (
	"bytes"
	"cmp"
	"context"
	"image"
	"image/color"
	"image/png"
	"maps"
	"slices"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// Screenshot returns a picture of the top of the page in the format PNG, with at
// most 256 colors. The page must have the width of SetWidth. A page that is less
// high than the argument height has a smaller picture.
func (p *Page) Screenshot(width, height int) []byte {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, timeout)
	defer cancel()
	content, err := chromedp.Run(ctx, chromedp.Evaluate[float64]("Math.ceil(document.body.getBoundingClientRect().bottom)"))
	if err != nil {
		p.t.Fatalf("browsertest: height of the page: %v", err)
	}
	beyond := true
	shot := page.CaptureScreenshotParams{CaptureBeyondViewport: &beyond,
		Clip: &page.Viewport{Width: float64(width), Height: min(content, float64(height)), Scale: 1}}
	result, err := chromedp.Call(ctx, page.CaptureScreenshot, shot)
	if err != nil {
		p.t.Fatalf("browsertest: picture: %v", err)
	}
	full, err := png.Decode(bytes.NewReader(result.Data))
	if err != nil {
		p.t.Fatalf("browsertest: picture: %v", err)
	}
	var small bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	if err := encoder.Encode(&small, reduce(full)); err != nil {
		p.t.Fatalf("browsertest: picture: %v", err)
	}
	return small.Bytes()
}

// reduce returns a picture with the 256 most frequent colors of full. Other
// pixels get the nearest of these colors.
func reduce(full image.Image) image.Image {
	count := map[color.RGBA]int{}
	at := func(x, y int) color.RGBA { return color.RGBAModel.Convert(full.At(x, y)).(color.RGBA) }
	b := full.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			count[at(x, y)]++
		}
	}
	frequent := slices.SortedFunc(maps.Keys(count), func(p, q color.RGBA) int {
		return cmp.Or(count[q]-count[p], int(p.R)-int(q.R), int(p.G)-int(q.G), int(p.B)-int(q.B))
	})
	var palette color.Palette
	for _, c := range frequent[:min(len(frequent), 256)] {
		palette = append(palette, c)
	}
	nearest := map[color.RGBA]uint8{}
	for _, c := range frequent {
		nearest[c] = uint8(palette.Index(c))
	}
	small := image.NewPaletted(b, palette)
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			small.SetColorIndex(x, y, nearest[at(x, y)])
		}
	}
	return small
}
