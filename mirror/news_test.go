package mirror_test

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/mirror"
	"github.com/anyurl/fetch/schemes"
	"github.com/anyurl/fetch/schemes/nntp"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/warc"
)

// newsgroup is a server with the articles 1 to high of the group g.
type newsgroup struct {
	high       int
	expired    int            // number of an article that has expired since it was listed
	messageIDs map[int]string // message-ids in overviews
	broken     bool           // whether requests for articles fail
	asked      int            // number of requests for articles
}

func (g *newsgroup) step() faultnet.Step {
	return faultnet.Do("news", func(c *faultnet.Conn) error {
		_, err := io.WriteString(c, "200 hello\r\n")
		for err == nil {
			var line string
			if line, err = c.ReadLine(); err == nil {
				_, err = io.WriteString(c, g.answer(strings.TrimSpace(line)))
			}
		}
		return err
	})
}

func (g *newsgroup) answer(line string) string {
	var n int
	verb, arg, _ := strings.Cut(line, " ")
	fmt.Sscanf(strings.Trim(arg, "<>"), "%d", &n)
	switch verb {
	case "MODE":
		return "200 hello\r\n"
	case "GROUP":
		return fmt.Sprintf("211 %d 1 %d g\r\n", g.high, g.high)
	case "STAT":
		return fmt.Sprintf("223 %d <%d@g.example> there\r\n", n, n)
	case "XOVER":
		text := "224 ok\r\n"
		for ; n <= g.high; n++ {
			text += fmt.Sprintf("%d\ts\tf\td\t%s\t\t1\t1\r\n", n, cmp.Or(g.messageIDs[n], fmt.Sprintf("<%d@g.example>", n)))
		}
		return text + ".\r\n"
	case "LIST":
		if arg == "ACTIVE g*" {
			return "215 groups\r\ng 3 1 y\r\n.\r\n"
		}
	case "ARTICLE":
		g.asked++
		switch {
		case n == g.expired:
			return "430 no such article\r\n"
		case g.broken:
			return "403 the disk is ill\r\n"
		}
		return fmt.Sprintf("220 0 <%d@g.example>\r\nFrom: a@b.example\r\nNewsgroups: g\r\nMessage-ID: <%d@g.example>\r\n\r\nNumber %d\r\n.\r\n", n, n, n)
	}
	return "500 what?\r\n"
}

// groupMarks implements mirror.Marks by nntp.Marks, like the command.
type groupMarks struct{ of *nntp.Marks }

const newsServer = "n.example:119"

func (m groupMarks) Mark(u uri.URI) string {
	k := m.of.Get(newsServer, strings.Trim(u.Path(), "/"))
	return fmt.Sprint(k.Number, " ", k.ID)
}

func (m groupMarks) SetMark(u uri.URI, text string) {
	var k nntp.Mark
	fmt.Sscan(text, &k.Number, &k.ID)
	m.of.Set(newsServer, strings.Trim(u.Path(), "/"), k)
}

// news returns the options of a mirror of g.
func (w *network) news(g *newsgroup) mirror.Options {
	w.net.Serve(w.name("n.example").String()+":119", faultnet.Script{g.step()})
	o := w.options("nntp://n.example/g")
	o.WARC = nil
	of := new(nntp.Marks)
	o.Marks = groupMarks{of}
	options := fetch.Options{Policy: w.policy, Resolver: w, Dial: w.dial}
	o.Client = fetch.New(options, schemes.All(schemes.Options{NNTP: nntp.Options{Marks: of}})...)
	w.t.Cleanup(func() { o.Client.Close() })
	return o
}

// articles returns the number of articles in the tree.
func articles(t testing.TB, dir string) int { return len(tree(t, dir, "news")) }

// TestArticles checks that a listing starts after the last one, and that
// articles which failed or were removed from the archive are still retrieved.
func TestArticles(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newNetwork(t)
		g := &newsgroup{high: 5, expired: 2, broken: true}
		o := w.news(g)
		if sum := run(t, o); sum.Failed != 0 || sum.Unreached != 4 || sum.Gone != 1 {
			t.Errorf("want four unreached, one expired: %+v\n%s", sum, outcomes(t, o.Dir))
		}
		g.broken, g.high = false, 6
		if sum := run(t, o); sum.Failed != 0 || articles(t, o.Dir) != 5 {
			t.Errorf("failed and new articles: %+v, %d files\n%s", sum, articles(t, o.Dir), outcomes(t, o.Dir))
		}
		checkVerify(t, o.Dir)
		g.asked = 0
		run(t, o)
		if g.asked != 0 {
			t.Errorf("%d requests for articles", g.asked)
		}
		for name := range tree(t, o.Dir, "news") {
			if strings.Contains(name, "3@") {
				if err := os.Remove(filepath.Join(o.Dir, "tree/news", name)); err != nil {
					t.Fatal(err)
				}
			}
		}
		if run(t, o); g.asked != 1 || articles(t, o.Dir) != 5 {
			t.Errorf("after a removal: %d files, %d requests", articles(t, o.Dir), g.asked)
		}
		o.WARC, g.asked = &mirror.WARC{}, 0
		if run(t, o); g.asked != 5 {
			t.Errorf("%d requests for records", g.asked)
		}
		heads, blocks := records(t, o.Dir)
		for i, h := range heads {
			if h.Target() == "nntp://n.example/g/4" && h.Type() == warc.Metadata && strings.Contains(blocks[i], "article: news://n.example/4@g.example\r\n") {
				return
			}
		}
		t.Error("no record of the number of an article")
	})
}

// TestMissingOverview checks that a run writes the listing of a newsgroup again
// if its file or its record is missing, and requests no articles again.
func TestMissingOverview(t *testing.T) {
	t.Parallel()
	for _, form := range []string{"tree", "WARC"} {
		synctest.Test(t, func(t *testing.T) {
			w := newNetwork(t)
			g := &newsgroup{high: 5}
			o := w.news(g)
			name := "tree/nntp/n.example/g/.overview"
			if form == "WARC" {
				o.WARC, o.Tree = &mirror.WARC{Size: 1}, false
				// The articles could be claimed before the listing is
				// committed. A run without them gives it a file of its own.
				g.broken = true
				run(t, o)
				g.broken = false
			}
			run(t, o)
			if form == "WARC" {
				path, _ := placeOf(t, o.Dir, "nntp://n.example/g")
				name, o.MaxLost = "warc/"+filepath.Base(path), 1
			}
			before := content(t, filepath.Join(o.Dir, name))
			remove(t, o.Dir, name)
			g.asked = 0
			if sum := run(t, o); sum.Repaired != 1 || g.asked != 0 {
				t.Errorf("%s: %+v, %d articles requested", form, sum, g.asked)
			}
			if form == "tree" && content(t, filepath.Join(o.Dir, name)) != before {
				t.Error("the listing differs")
			}
			checkVerify(t, o.Dir)
		})
	}
}

// TestGroups checks that a list of groups leads to the groups.
func TestGroups(t *testing.T) {
	t.Parallel()
	for _, seed := range []string{"nntp://n.example/g*", "news://n.example/g%2A"} {
		synctest.Test(t, func(t *testing.T) {
			w := newNetwork(t)
			o := w.news(&newsgroup{high: 3})
			o.Seeds = []uri.URI{uri.MustParse(seed)}
			if sum := run(t, o); sum.New != 5 || articles(t, o.Dir) < 3 {
				t.Errorf("%s: %+v\n%s", seed, sum, outcomes(t, o.Dir))
			}
			checkVerify(t, o.Dir)
		})
	}
}

// TestInvalidMessageIDs checks that articles with an invalid message-id are
// retrieved by number, and that no such message-id is read as a group.
func TestInvalidMessageIDs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newNetwork(t)
		g := &newsgroup{
			high:       6,
			messageIDs: map[int]string{1: "none", 2: "<a b@g.example>", 3: "<" + strings.Repeat("x", 300) + "@g.example>", 4: "<a>b@g.example>", 5: "g"},
		}
		o := w.news(g)
		for range 2 {
			sum := run(t, o)
			var all string
			for _, text := range tree(t, o.Dir, "") {
				all += text
			}
			for n := range g.high {
				if got := strings.Count(all, fmt.Sprintf("\r\n\r\nNumber %d\r\n", n+1)); got != 1 || sum.Failed > 0 {
					t.Errorf("article %d exists %d times: %+v\n%s", n+1, got, sum, outcomes(t, o.Dir))
				}
			}
			checkVerify(t, o.Dir)
		}
	})
}

// TestMailForms checks that the mailboxes contain the messages of all runs,
// also after a change of the format.
func TestMailForms(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newNetwork(t)
		g := &newsgroup{high: 3}
		o := w.news(g)
		has := func(form mirror.Mailboxes) (n int) {
			t.Helper()
			o.Mail = form
			run(t, o)
			if form == mirror.Mbox {
				text, err := os.ReadFile(filepath.Join(o.Dir, "mail/n.example/g.mbox"))
				if err != nil {
					t.Error(err)
				}
				return strings.Count(string(text), "\nNumber ")
			}
			all, err := filepath.Glob(filepath.Join(o.Dir, "mail/n.example/g/new/*"))
			if err != nil {
				t.Error(err)
			}
			return len(all)
		}
		for i, step := range []struct {
			form mirror.Mailboxes
			high int
		}{{mirror.Mbox, 3}, {mirror.Maildir, 3}, {mirror.NoMailboxes, 5}, {mirror.Maildir, 5}, {mirror.Mbox, 5}, {mirror.Mbox, 6}} {
			g.high = step.high
			if got := has(step.form); got != step.high && step.form != mirror.NoMailboxes {
				t.Errorf("step %d: %d messages, want %d", i, got, step.high)
			}
		}
		made := filepath.Join(o.Dir, "mail/n.example/g.mbox")
		if err := os.WriteFile(made, nil, 0o666); err != nil {
			t.Fatal(err)
		}
		if got := has(mirror.Mbox); got != 6 {
			t.Errorf("after damage: %d messages, want 6", got)
		}
	})
}
