package servecmd

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/gateway"
	"github.com/anyurl/fetch/internal/base/chromium"
	"github.com/anyurl/fetch/internal/wire/cdp"
)

// A Replay is the browser of --scripts=browser without a window.
type Replay struct {
	t    *testing.T
	conn *cdp.Conn
}

// StartReplay starts a browser that shows archives. The browser ends with the
// test.
func StartReplay(t *testing.T, archives ...gateway.Archive) *Replay {
	t.Helper()
	b, err := openBrowser(t.Context(), &console.Streams{Stderr: t.Output()}, chromium.Options{}, archives)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	r := &Replay{t, cdp.New(func(cdp.Event) {})}
	go r.conn.Run(b.process.Out, b.process.In)
	return r
}

// Eval opens a URL in a new tab, evaluates expressions in it, and returns the
// value of the last one. The value may be a promise. After each expression, the
// tab may open another page.
func (r *Replay) Eval(url string, expressions ...string) (value string) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), 2*time.Minute)
	defer cancel()
	var target struct{ TargetID string }
	var session struct{ SessionID string }
	r.call(ctx, "Target.createTarget", map[string]any{"url": url}, &target)
	r.call(ctx, "Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &session)
	for _, expression := range expressions {
		value = r.evaluate(ctx, session.SessionID, expression)
	}
	r.call(ctx, "Target.closeTarget", map[string]any{"targetId": target.TargetID}, nil)
	return value
}

// call calls a method of the browser.
func (r *Replay) call(ctx context.Context, method string, params, result any) {
	r.t.Helper()
	if err := r.conn.Call(ctx, "", method, params, result); err != nil {
		r.t.Fatalf("%s: %v", method, err)
	}
}

// evaluate evaluates an expression in a tab. It repeats a call that failed because
// the tab opened another page, or that has no answer, because the process of the
// earlier page has ended.
//
// The expression can call until(f, again). This function waits until f returns
// true, and calls again every five seconds, because Chromium can ignore a click on
// a page that it has not drawn yet.
func (r *Replay) evaluate(ctx context.Context, session, expression string) string {
	r.t.Helper()
	const until = "const until = async (f, again) => { for (let n = 1; !f(); n++) { " +
		"if (again && n % 250 === 0) again(); await new Promise(done => setTimeout(done, 20)) } };"
	for {
		var result struct {
			Result struct{ Value json.RawMessage }
		}
		limited, cancel := context.WithTimeout(ctx, 20*time.Second)
		err := r.conn.Call(limited, session, "Runtime.evaluate", map[string]any{
			"expression": "(() => {" + until + " return " + expression + "})()", "awaitPromise": true, "returnByValue": true,
		}, &result)
		cancel()
		if err == nil {
			var text string
			json.Unmarshal(result.Result.Value, &text)
			return text
		}
		if ctx.Err() != nil {
			r.t.Fatalf("%s: %v; the page is %s", expression, err, r.describe(session))
		}
	}
}

// describe returns the address, the state, the title and the beginning of the text
// of the page in a tab. The page of a failed request contains the error.
func (r *Replay) describe(session string) string {
	ctx, cancel := context.WithTimeout(r.t.Context(), 20*time.Second)
	defer cancel()
	var result struct {
		Result struct{ Value json.RawMessage }
	}
	err := r.conn.Call(ctx, session, "Runtime.evaluate", map[string]any{
		"expression": "[location.href, document.readyState, document.title, document.body?.innerText.slice(0, 500)].join()", "returnByValue": true,
	}, &result)
	return fmt.Sprintf("%s, %v", result.Result.Value, err)
}
