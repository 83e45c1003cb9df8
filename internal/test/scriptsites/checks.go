package scriptsites

// pixel is a GIF with one pixel.
const pixel = "GIF89a\x01\x00\x01\x00\x80\x00\x00\xff\xff\xff\x00\x00\x00!\xf9\x04\x01\x00\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;"

// page returns a page that loads a module.
func page(script string) object {
	return object{"text/html; charset=utf-8", `<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>running</title></head><body><script type="module" src="` + script + `"></script></body></html>`}
}

func script(text string) object { return object{"text/javascript", text} }

// checkModule is a module for the pages of checks. The title of a page becomes
// "passed" or the reason of the failure.
const checkModule = `
const notes = []
addEventListener('error', e => notes.push(e.message ?? 'error of ' + (e.target.src ?? e.target.href)), true)
addEventListener('unhandledrejection', e => notes.push(String(e.reason)))
addEventListener('securitypolicyviolation', e => notes.push(e.effectiveDirective + ' ' + e.blockedURI))
let last = 'start'
export const step = name => last = name
const late = () => new Promise((_, failed) => setTimeout(() => failed(new Error('too late after ' + last)), 50000))
export const check = async f => {
	try { await Promise.race([f(), late()]); document.title = 'passed' } catch (e) { document.title = ['failed: ' + (e?.message ?? e), ...notes].join('; ') }
}
export const equal = (got, want) => { if (got !== want) throw new Error(JSON.stringify(got) + ' is not ' + JSON.stringify(want)) }
export const until = async f => { while (!f()) await new Promise(done => setTimeout(done, 20)) }
export const event = (target, name, start) => new Promise((done, failed) => { target.addEventListener(name, done); target.addEventListener('error', () => failed(new Error('no ' + name))); start?.() })
`

// checkFiles are the files of the sites that test single features of browsers.
var checkFiles = map[string]object{
	"https://site.test/check.js": script(checkModule),

	"https://site.test/modules": {"text/html; charset=utf-8", `<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>running</title>
<script type="importmap">{"imports": {"mapped": "https://cdn.test/deep.js"}}</script></head><body><script type="module">
import {deep} from "https://cdn.test/deep.js"; window.inline = deep</script><script type="module" src="modules.js"></script></body></html>`},
	"https://site.test/modules.js": script(`
import {check, equal} from './check.js'
import {other} from 'https://cdn.test/lib/other.js'
check(async () => {
	equal(other() + window.inline + (await import('mapped')).deep, 'deepdeepdeep')
	equal((await import('./lazy.js')).value, 'lazy')
	equal((await import(new URL('/lazy.js', import.meta.url))).value, 'lazy')
})`),
	"https://site.test/lazy.js":       script(`export const value = 'lazy'`),
	"https://cdn.test/lib/other.js":   script(`import {deep} from '/deep.js'; export const other = () => deep`),
	"https://cdn.test/deep.js":        script(`export const deep = 'deep'`),
	"https://cdn.test/classic.js":     script(`window.classic = 'classic'`),
	"https://cdn.test/style.css":      {"text/css", `@import "/more.css"; #p { color: rgb(1, 2, 3) }`},
	"https://cdn.test/more.css":       {"text/css", `#p { width: 7px; background: url(i.gif) }`},
	"https://cdn.test/i.gif":          {"image/gif", pixel},
	"https://site.test/a//b.gif":      {"image/gif", pixel},
	"https://site.test/data.json":     {"application/json", `{"from":"site"}`},
	"https://other.test/data.json":    {"application/json", `{"from":"other"}`},
	"https://other.test/inner":        {"text/html", `<title>inner</title><script>parent.postMessage('from inner', '*'); onmessage = e => e.source.postMessage('answer to ' + e.origin, '*')</script>`},
	"https://site.test/inner":         {"text/html", `<title>inner of the site</title>`},
	Landing:                           {"text/html", `<title>passed</title>landed`},
	"https://site.test/requests":      page("requests.js"),
	"https://site.test/elements":      page("elements.js"),
	"https://site.test/post":          page("post.js"),
	"https://site.test/storage":       page("storage.js"),
	"https://site.test/address?x=1":   page("address.js"),
	"https://site.test/frames":        page("frames.js"),
	"https://site.test/workers":       page("workers.js"),
	"https://site.test/navigation":    page("navigation.js"),
	"https://site.test/hostname":      page("hostname.js"),
	"https://site.test/messages":      page("messages.js"),
	"https://site.test/service":       page("service.js"),
	"https://site.test/time?id=1&_=1": {"application/json", `{"id":1}`},
	"https://site.test/time?id=2&_=1": {"application/json", `{"id":2}`},

	"https://site.test/requests.js": script(`
import {check, equal} from './check.js'
check(async () => {
	const from = async (url, options) => (await (await fetch(url, options)).json()).from
	equal(await from('data.json'), 'site')
	equal(await from('https://site.test/data.json'), 'site')
	equal(await from('//other.test/data.json'), 'other')
	equal(await from(new URL('https://other.test/data.json'), {headers: {'X-Field': '1'}, credentials: 'include'}), 'other')
	equal(await from(new Request('https://other.test/data.json')), 'other')
	equal((await fetch('https://other.test/data.json')).url, 'https://other.test/data.json')
	const x = new XMLHttpRequest
	x.open('GET', 'https://other.test/data.json')
	x.responseType = 'json'
	await new Promise((done, failed) => { x.onload = done; x.onerror = () => failed(new Error('XMLHttpRequest')); x.send() })
	equal(x.response.from + ' ' + x.responseURL, 'other https://other.test/data.json')
	for (const id of [2, 1]) equal((await (await fetch('/time?_=' + Date.now() + '&id=' + id)).json()).id, id)
})`),
	"https://site.test/elements.js": script(`
import {check, equal, event, step, until} from './check.js'
check(async () => {
	const image = new Image
	step('image')
	await event(image, 'load', () => image.src = 'https://cdn.test/i.gif')
	const loaded = document.createElement('script')
	step('script')
	await event(loaded, 'load', () => { loaded.setAttribute('src', 'https://cdn.test/classic.js'); document.head.append(loaded) })
	equal(window.classic, 'classic')
	document.body.insertAdjacentHTML('beforeend', '<p id="p"><img alt="a > b" src="//cdn.test/i.gif" srcset="https://cdn.test/i.gif 1x, /a//b.gif 3x"></p>')
	const p = document.querySelector('#p')
	const sheet = document.createElement('link')
	step('style sheet')
	sheet.rel = 'stylesheet'
	await event(sheet, 'load', () => { sheet.href = 'https://cdn.test/style.css'; document.head.append(sheet) })
	step('markup')
	equal(getComputedStyle(p).color + getComputedStyle(p).width, 'rgb(1, 2, 3)7px')
	await until(() => p.firstChild.naturalWidth > 0)
	equal(p.firstChild.srcset.endsWith(' 1x, /a//b.gif 3x'), true)
})`),
	"https://site.test/post.js": script(`
import {check, equal} from './check.js'
check(async () => {
	const post = async (url, body, type) => (await fetch(url, {method: 'POST', body, headers: type ? {'Content-Type': type} : {}})).text()
	equal(await post('/api', '{"query":"first"}', 'application/json'), 'POST {"query":"first"}')
	equal(await post('/api', '{"query":"second"}', 'application/json'), 'POST {"query":"second"}')
	equal(await post('https://other.test/api', new URLSearchParams({a: 1, b: 'x y'})), 'POST a=1&b=x+y')
	equal(await (await fetch('/api', {method: 'PUT', body: 'text'})).text(), 'PUT text')
})`),
	"https://site.test/storage.js": script(`
import {check, equal, event} from './check.js'
check(async () => {
	localStorage.setItem('a', 'stored')
	equal(localStorage.getItem('a') + sessionStorage.length, 'stored0')
	document.cookie = 'name=value; domain=site.test; path=/'
	equal(document.cookie, 'name=value')
	const open = indexedDB.open('database', 1)
	open.onupgradeneeded = () => open.result.createObjectStore('store').put('stored', 'key')
	await event(open, 'success')
	const get = open.result.transaction('store').objectStore('store').get('key')
	await event(get, 'success')
	equal(get.result, 'stored')
	await (await caches.open('cache')).put('/data.json', new Response('cached'))
	equal(await (await caches.match('/data.json')).text(), 'cached')
})`),
	"https://site.test/address.js": script(`
import {check, equal, event} from './check.js'
check(async () => {
	equal([origin, self.origin, document.URL, document.documentURI, document.domain].join(), 'https://site.test,https://site.test,https://site.test/address?x=1,https://site.test/address?x=1,site.test')
	equal(parent, window)
	document.domain = 'site.test'
	history.pushState({step: 1}, '', 'https://site.test/pushed')
	equal(location.pathname + ' ' + document.URL, '/pushed https://site.test/pushed')
	const back = event(window, 'popstate', () => history.back())
	await back
	equal(location.pathname + location.search, '/address?x=1')
	const message = event(window, 'message', () => window.postMessage('own', 'https://site.test'))
	equal((await message).origin, 'https://site.test')
})`),
	"https://site.test/frames.js": script(`
import {check, equal, event} from './check.js'
check(async () => {
	const frame = document.createElement('iframe')
	const answer = event(window, 'message', () => { frame.src = 'https://other.test/inner'; document.body.append(frame) })
	equal((await answer).data + ' ' + (await answer).origin, 'from inner https://other.test')
	const div = document.createElement('div')
	document.body.append(div)
	const second = event(window, 'message', () => div.innerHTML = '<iframe src="https://other.test/inner"></iframe>')
	equal((await second).source, div.firstChild.contentWindow)
	const own = document.createElement('iframe')
	await event(own, 'load', () => { own.setAttribute('src', 'https://site.test/inner'); document.body.append(own) })
	equal(own.contentDocument.title, 'inner of the site')
})`),
	"https://site.test/workers.js": script(`
import {check, equal, event} from './check.js'
check(async () => {
	const run = async worker => (await event(worker, 'message')).data
	equal(await run(new Worker('/worker.js')), 'other classic https://site.test')
	equal(await run(new Worker(new URL('./moduleworker.js', import.meta.url), {type: 'module'})), 'lazy')
	const text = URL.createObjectURL(new Blob(["postMessage('blob')"], {type: 'text/javascript'}))
	equal(await run(new Worker(text)), 'blob')
})`),
	"https://site.test/worker.js":       script(`importScripts('https://cdn.test/workerlib.js'); fetch('https://other.test/data.json').then(r => r.json()).then(d => postMessage(d.from + ' ' + lib + ' ' + origin), e => postMessage('' + e))`),
	"https://cdn.test/workerlib.js":     script(`var lib = 'classic'`),
	"https://site.test/moduleworker.js": script(`import {value} from './lazy.js'; postMessage(value)`),
	"https://site.test/navigation.js": script(`
import {check} from './check.js'
check(async () => {
	const a = document.createElement('a')
	a.href = 'https://other.test/landing'
	document.body.append(a)
	a.click()
	await new Promise(() => {})
})`),
	"https://site.test/hostname.js": script(`
import {check, equal} from './check.js'
check(async () => equal(location.hostname + ' ' + location.origin + ' ' + location.href, 'site.test https://site.test https://site.test/hostname'))`),
	"https://site.test/messages.js": script(`
import {check, equal, event} from './check.js'
check(async () => {
	const frame = document.createElement('iframe')
	await event(window, 'message', () => { frame.src = 'https://other.test/inner'; document.body.append(frame) })
	const answer = event(window, 'message', () => frame.contentWindow.postMessage('hello', 'https://other.test'))
	const late = new Promise((_, failed) => setTimeout(() => failed(new Error('no answer')), 10000))
	equal((await Promise.race([answer, late])).data, 'answer to https://site.test')
})`),
	"https://site.test/service.js": script(`
import {check, equal} from './check.js'
check(async () => {
	await navigator.serviceWorker.register('/sw.js')
	const controlled = new Promise(done => navigator.serviceWorker.controller ? done() : navigator.serviceWorker.addEventListener('controllerchange', done))
	await controlled
	equal(await (await fetch('/made')).text(), 'made by the worker')
})`),
	"https://site.test/sw.js": script(`
addEventListener('install', () => skipWaiting())
addEventListener('activate', e => e.waitUntil(clients.claim()))
addEventListener('fetch', e => { if (new URL(e.request.url).pathname === '/made') e.respondWith(new Response('made by the worker')) })`),
}
