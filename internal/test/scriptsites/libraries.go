package scriptsites

// A bundle is a site that is bundled from a module of the npm packages.
type bundle struct {
	origin  string
	source  string   // the main module
	markup  string   // markup in the body of the page
	workers []string // modules in the npm packages that are bundled as workers
	paths   []string // further paths of the page, which the module shows
}

// bundles are sites of libraries whose modules are bundled with code splitting.
var bundles = []bundle{
	{origin: "https://react.test", markup: `<div id="root"></div>`, paths: []string{"/users/7"}, source: `
import {createElement as h, lazy, Suspense, useEffect, useState} from 'react'
import {createRoot} from 'react-dom/client'
import {BrowserRouter, Link, Route, Routes, useParams} from 'react-router-dom'
import {check, equal, until} from './check.js'
const User = lazy(() => import('./user.js'))
const Home = () => h('div', null, h('h1', null, 'home'), h(Link, {to: '/users/7', id: 'link'}, 'user'))
createRoot(document.querySelector('#root')).render(h(BrowserRouter, null, h(Suspense, {fallback: 'wait'},
	h(Routes, null, h(Route, {path: '/', element: h(Home)}), h(Route, {path: '/users/:id', element: h(User)}), h(Route, {path: '*', element: h('h1', null, 'lost')})))))
check(async () => {
	if (location.pathname === '/') {
		await until(() => document.querySelector('#link'))
		document.querySelector('#link').click()
	}
	await until(() => document.querySelector('h1')?.textContent === 'user 7: Ada')
	equal(location.pathname, '/users/7')
})`},
	{origin: "https://data.test", markup: `<div id="root"></div>`, paths: []string{"/items/3"}, source: `
import {createElement as h} from 'react'
import {createRoot} from 'react-dom/client'
import {createBrowserRouter, RouterProvider, useLoaderData, Form, redirect} from 'react-router-dom'
import {check, equal, until} from './check.js'
const Item = () => { const d = useLoaderData(); return h('div', null, h('h1', null, d.name), h(Form, {method: 'post', action: '/items/3'}, h('button', {id: 'go'}, 'go'))) }
let actions = 0
const router = createBrowserRouter([{path: '/items/:id', loader: async ({params, request}) => (await fetch('https://api.data.test/items/' + params.id + '?t=' + Date.now(), {signal: request.signal})).json(),
	action: () => { actions++; return null }, Component: Item}, {path: '/', loader: () => redirect('/items/3')}])
createRoot(document.querySelector('#root')).render(h(RouterProvider, {router}))
check(async () => {
	await until(() => document.querySelector('h1')?.textContent === 'third item')
	document.querySelector('#go').click()
	await until(() => actions === 1)
	equal(location.pathname, '/items/3')
})`},
	{origin: "https://vue.test", markup: `<div id="app"></div>`, paths: []string{"/about"}, source: `
import {createApp, h} from 'vue'
import {createRouter, createWebHistory, RouterLink, RouterView} from 'vue-router'
import {check, equal, until} from './check.js'
const router = createRouter({history: createWebHistory(), routes: [
	{path: '/', component: {render: () => h('div', [h('h1', 'home'), h(RouterLink, {to: '/about', id: 'link'}, () => 'about')])}},
	{path: '/about', component: () => import('./about.js')}]})
createApp({render: () => h(RouterView)}).use(router).mount('#app')
check(async () => {
	await router.isReady()
	if (location.pathname === '/') document.querySelector('#link').click()
	await until(() => document.querySelector('h1')?.textContent === 'about Vue')
	equal(location.pathname + router.currentRoute.value.path, '/about/about')
})`},
	{origin: "https://map.test", markup: `<div id="map" style="width: 400px; height: 300px"></div>`, source: `
import L from 'leaflet'
import 'leaflet/dist/leaflet.css'
import icon from 'leaflet/dist/images/marker-icon.png'
import {check, equal, until} from './check.js'
check(async () => {
	L.Icon.Default.prototype.options.iconUrl = icon
	L.Icon.Default.imagePath = ' '.trim()
	const map = L.map('map').setView([51.5, 0], 2), layer = L.tileLayer('https://{s}.tile.test/{z}/{x}/{y}.gif', {subdomains: 'ab'})
	const loaded = new Promise(done => layer.on('load', done))
	layer.addTo(map)
	L.marker([51.5, 0], {icon: L.icon({iconUrl: icon})}).addTo(map).bindPopup('<b>here</b>').openPopup()
	await loaded
	await until(() => document.querySelector('.leaflet-marker-icon').naturalWidth > 0)
	equal(document.querySelectorAll('.leaflet-tile-loaded').length > 3 && getComputedStyle(document.querySelector('.leaflet-pane')).position, 'absolute')
	equal([...document.querySelectorAll('.leaflet-tile')].every(i => i.naturalWidth === 1), true)
})`},
	{origin: "https://editor.test", markup: `<div id="editor" style="width: 400px; height: 300px"></div>`,
		workers: []string{"monaco-editor/esm/vs/editor/editor.worker.js", "monaco-editor/esm/vs/languages/features/json/json.worker.js"}, source: `
import * as monaco from 'monaco-editor'
import {check, equal, until} from './check.js'
self.MonacoEnvironment = {getWorker: (_, label) => new Worker(label === 'json' ? '/json.worker.js' : 'https://editor.test/editor.worker.js')}
check(async () => {
	monaco.editor.create(document.querySelector('#editor'), {value: '{"a": 1,, "b" 2}', language: 'json'})
	await until(() => monaco.editor.getModelMarkers({}).length > 0)
	await until(() => document.querySelectorAll('.view-line').length === 1 && document.querySelector('.squiggly-error'))
	equal(document.querySelector('.view-line').textContent.includes('"a"'), true)
})`},
	{origin: "https://slides.test", markup: `<div class="reveal"><div class="slides"><section>one</section><section data-markdown="slides.md" data-separator="^---$"></section></div></div>`, source: `
import Reveal from 'reveal.js'
import Markdown from 'reveal.js/plugin/markdown'
import 'reveal.js/reveal.css'
import {check, equal, until} from './check.js'
check(async () => {
	const deck = new Reveal({hash: true, plugins: [Markdown]})
	await deck.initialize()
	deck.next()
	await until(() => deck.getCurrentSlide().textContent.includes('from Markdown'))
	await until(() => location.hash === '#/1')
	equal(deck.getTotalSlides(), 3)
})`},
}

// libraryModules are modules that the bundled modules import.
var libraryModules = map[string]string{
	"check.js": checkModule,
	"user.js": `
import {createElement as h, useEffect, useState} from 'react'
import {useParams} from 'react-router-dom'
export default function User() {
	const {id} = useParams(), [name, setName] = useState('')
	useEffect(() => { fetch('/api/users/' + id + '?_=' + Math.random()).then(r => r.json()).then(u => setName(u.name)) }, [id])
	return h('h1', null, 'user ' + id + ': ' + name)
}`,
	"about.js": `import {h} from 'vue'; export default {render: () => h('h1', 'about Vue')}`,
}

// libraryFiles are the files that the libraries request.
var libraryFiles = map[string]object{
	"https://react.test/api/users/7?_=0.5":  {"application/json", `{"name":"Ada"}`},
	"https://api.data.test/items/3?t=17000": {"application/json", `{"name":"third item"}`},
	"https://slides.test/slides.md":         {"text/markdown", "# from Markdown\n\n---\n\nthird\n"},
	"https://swagger.test/openapi.json": {"application/json", `{"openapi":"3.0.0","info":{"title":"Sample API","version":"1"},"servers":[{"url":"https://swagger.test/v1"}],
		"paths":{"/api":{"get":{"operationId":"list","responses":{"200":{"description":"all the pets"}}},"post":{"operationId":"add","requestBody":{"content":{"application/json":{"example":{"name":"Ada"}}}},"responses":{"201":{"description":"a new pet"}}}}}}`},
	"https://swagger.test/": {"text/html; charset=utf-8", `<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>running</title><link rel="stylesheet" href="swagger-ui.css"></head><body><div id="ui"></div>
<script src="/swagger-ui-bundle.js" crossorigin></script><script src="/swagger-ui-standalone-preset.js"></script><script type="module" src="start.js"></script></body></html>`},
	"https://swagger.test/v1/api":   {"application/json", `{"name":"Rex"}`},
	"https://swagger.test/check.js": script(checkModule),
	"https://swagger.test/start.js": script(`
import {check, equal, step, until} from './check.js'
check(async () => {
	SwaggerUIBundle({url: 'https://swagger.test/openapi.json', dom_id: '#ui', presets: [SwaggerUIBundle.presets.apis, SwaggerUIStandalonePreset], layout: 'StandaloneLayout', validatorUrl: null})
	await until(() => document.querySelectorAll('.opblock').length === 2)
	step('operations')
	for (const [method, description, answer] of [['get', 'all the pets', 'Rex'], ['post', 'a new pet', 'POST {']]) {
		const operation = document.querySelector('.opblock-' + method)
		operation.querySelector('.opblock-summary-control').click()
		step('operation ' + method) // before it is resolved, its buttons have no effect
		await until(() => operation.querySelector('.responses-table')?.textContent.includes(description))
		operation.querySelector('.try-out__btn').click()
		step('execution of ' + method)
		await until(() => operation.querySelector('.execute'))
		operation.querySelector('.execute').click()
		await until(() => operation.querySelector('.live-responses-table')?.textContent.includes(answer))
	}
	equal(document.querySelector('.info .title').textContent.startsWith('Sample API'), true)
})`),
}
