package gateway

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/anyurl/fetch/internal/test/browsertest"
)

// faithfulPages are pages that must look the same as their originals. Their
// scripts write their results into the page.
var faithfulPages = []struct{ name, media, body string }{
	{"comparisons", "text/html", "<p id=r><script>var a=1,b=2,i,s='';for(i=0;i<b;i++)s+=i<a?'<b>x</b>':'<i>y</i>';if(a<b&&b<typeof 1||a<this.x)s+='z';if(!(a<new Number(b)))s='bad';r.innerHTML=s</script>"},
	{"templates", "text/html", "<div id=r></div><script>const n=3,t=(s,...v)=>s.join('|')+v;r.innerHTML=`<ul>${[1,2].map(x=>`<li class='a<b'>${x<n?`<em>${x}</em>`:''}</li>`).join('')}</ul>`;r.append(t`<p>${1}</p>`)</script>"},
	{"regular expressions", "text/html", "<p id=r></p><script>r.textContent='<p>a<b/>c</p>'.replace(/<[a-z]+>|<\\/p>|<b\\/>/g,'#').replace(/[<a]/,'_')+/<script>/.test('<script>')</script>"},
	{"module syntax", "text/html", "<p id=r></p><script>class A{#x=1;static has(o){return #x in o}lt(y){return 0<y&&y<async}}var async=5,let_=9,of=4;r.textContent=[A.has(new A),new A().lt(2),1<of,1<async,1<let_,(x=>x<of)(2)]</script>"},
	{"comment in a script", "text/html", "<p id=r></p><script><!--\nr.textContent='<!-- <script> '+(1<2)\n//--></script><p>after"},
	{"JSON-LD", "text/html", `<p id=r></p><script type=application/ld+json id=j>{"name":"a <b>bold</b> & \"q\"","d":"</p>"}</script><script>r.textContent=JSON.parse(j.textContent).name+JSON.parse(j.textContent).d</script>`},
	{"text template", "text/html", "<p id=r></p><script type=text/template id=t><div title='a<b'>{{#if x &lt; y}}<b>&amp;</b>{{/if}}</div></script><script>r.innerHTML=t.textContent</script>"},
	{"handlers", "text/html", "<p id=r onclick=\"for(var i=0;i<3;i++)this.innerHTML+='<b>'+i+'</b>'\">x</p><script>r.click()</script>"},
	{"inline SVG", "text/html", "<svg id=s width=60 height=20><defs><style>.a{fill:#123456}text>tspan{fill:red}</style><linearGradient id=g><stop offset=0 /></linearGradient></defs><title>T &lt; U</title><desc><p>d</p></desc><rect class=a width=9 height=9 /><foreignObject width=50 height=20><p>fo <b>x</b></p></foreignObject><script>document.title='svg'+(1&lt;2)</script><![CDATA[c<d]]></svg><p id=r><script>r.textContent=getComputedStyle(s.querySelector('rect')).fill+document.title+s.outerHTML</script>"},
	{"MathML", "text/html", "<math id=m><mrow><mi>a</mi><mo>&lt;</mo><mi>b</mi><mtext><b>t</b></mtext></mrow><annotation-xml encoding='text/html'><p>h</p></annotation-xml><style>x</style></math><p id=r><script>r.textContent=m.outerHTML</script>"},
	{"conditional comments", "text/html", "<!--[if lt IE 9]><script src=a.js></script><p>old</p><![endif]--><!--[if !IE]><!--><p>new</p><!--<![endif]--><![if !IE]><p>revealed</p><![endif]>"},
	{"verbatim elements", "text/html", "<xmp>a <b>c</b> &amp;</xmp><textarea id=a>\n<b>x</b> &lt; </textarea><noscript><p>none</p></noscript><listing>\n<i>l</i></listing><pre>\n\nx</pre><p id=r><script>r.textContent=a.value</script>"},
	{"custom elements", "text/html", "<x-a title='1<2'>in</x-a><div><template shadowrootmode=open><style>:host{color:#010203}p::after{content:'b'}</style><p>shadow <slot></slot></p></template>light</div><p id=r><script>customElements.define('x-a',class extends HTMLElement{connectedCallback(){this.innerHTML='<u>'+this.title+'</u>'}});r.textContent=document.querySelector('div').shadowRoot.innerHTML+getComputedStyle(document.querySelector('div')).color</script>"},
	{"srcdoc", "text/html", "<iframe srcdoc=\"<p id=q>a &amp;lt; b</p><script>q.textContent+=1<2;parent.postMessage(document.documentElement.outerHTML,'*')</script>\"></iframe><p id=r><script>onmessage=e=>r.textContent=e.data</script>"},
	{"nested frames", "text/html", "<iframe srcdoc='<iframe srcdoc=&quot;<p>x<script>top.postMessage(document.body.innerText,`*`)</script>&quot;></iframe>'></iframe><p id=r><script>onmessage=e=>r.textContent=e.data</script>"},
	{"styles", "text/html", "<style>/* <b> */ @media (1px<width){#r{color:rgb(1,2,3)}} a[title='<x>']::after{content:\"</p><b>\"} @container (10px<=width){p{}} #r{background:url(\"data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' width='5' height='5'/>\")}</style><a title='<x>'>a</a><p id=r>x<script>r.textContent=getComputedStyle(r).color+getComputedStyle(document.querySelector('a'),'::after').content+getComputedStyle(r).backgroundImage</script>"},
	{"XHTML", "application/xhtml+xml", "<?xml version='1.0'?><!DOCTYPE html PUBLIC '-//W3C//DTD XHTML 1.0 Strict//EN' 'http://www.w3.org/TR/xhtml1/DTD/xhtml1-strict.dtd' [<!ENTITY me 'M + E'>]><html xmlns='http://www.w3.org/1999/xhtml'><head><meta name='d' content='a &lt; b'/><title>t</title><style><![CDATA[p>b{color:#010203}]]></style></head><body><p id='r'>&me;&nbsp;<b>x</b></p><script>//<![CDATA[\nvar r=document.getElementById('r');if(1<2&&2>1)r.innerHTML+=getComputedStyle(r.querySelector('b')).color\n//]]></script><iframe srcdoc='&lt;p>x'/></body></html>"},
	{"tables and lists", "text/html", "<table><tr><td>1<td>2<p>x</table><ul><li>a<li>b</ul><select><option value='a<b'>o<optgroup label=g><option>p</select><p id=r title=\"x<y\" data-x='<b>' data-json='{\"a\":\"<i>\"}'><script>r.textContent=r.title+r.dataset.x+JSON.parse(r.dataset.json).a+document.querySelector('option').value</script>"},
}

// seen is a JavaScript expression for what a page shows.
const seen = `(async () => { await new Promise(f => setTimeout(f, 0)); const r = document.getElementById('r');
	return document.body.innerText + '#' + (r ? r.innerHTML : '') + '#' + [...document.querySelectorAll('body *')].map(e => e.localName).filter(n => n != 'xmp' && n != 'pre') })()`

// TestFaithfulPages compares archived pages with their originals in Chromium.
func TestFaithfulPages(t *testing.T) {
	t.Parallel()
	var captures []sample
	original := http.NewServeMux()
	for i, c := range faithfulPages {
		body := c.body
		captures = append(captures, sample{"20240101", fmt.Sprintf("http://p.example/%d", i), "", ok(c.media, body)})
		original.HandleFunc(fmt.Sprintf("/%d", i), func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", c.media)
			fmt.Fprint(w, body)
		})
	}
	open := httptest.NewServer(original)
	defer open.Close()
	rewritten := httptest.NewUnstartedServer(nil)
	h := newHandler(t, func(o *Options) {
		o.Address, o.Archives = rewritten.Listener.Addr(), []Archive{{Name: "a", Source: openSample(t, captures...)}}
	})
	rewritten.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h.ServeHTTP(scriptsWriter{w}, r) })
	rewritten.Start()
	defer rewritten.Close()
	p := browsertest.Start(t, strings.TrimPrefix(open.URL, "http://"), rewritten.Listener.Addr().String()).Open("about:blank")
	for i, c := range faithfulPages {
		p.Go(fmt.Sprintf("%s/%d", open.URL, i))
		want := p.Eval(seen)
		p.Go(fmt.Sprintf("%s/archive/a/2024mp_/http://p.example/%d", rewritten.URL, i))
		if got := p.Eval(seen); got != want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, want)
		}
	}
}

// A scriptsWriter sends archived pages with a policy that permits their scripts.
type scriptsWriter struct{ http.ResponseWriter }

func (w scriptsWriter) WriteHeader(status int) {
	policy := w.Header().Get("Content-Security-Policy")
	policy = strings.NewReplacer("sandbox ", "sandbox allow-scripts ", "script-src 'none'", "script-src 'self' 'unsafe-inline' 'unsafe-eval'").Replace(policy)
	w.Header().Set("Content-Security-Policy", policy)
	w.ResponseWriter.WriteHeader(status)
}
