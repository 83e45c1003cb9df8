// Runs in each archived page and worker before their own scripts. The content
// policy of the page, not this script, restricts its requests: this script only
// makes more pages work. In config, origin, scheme and hostname are those of the
// original page, group is the end of all host names that are shown together, and
// frame is the origin of the page that contains the frame.
config => {
	"use strict"
	const scope = globalThis, page = typeof document === "object", own = location.origin

	// toReplay returns the URL that shows the capture of an original URL. It
	// returns other texts unchanged, such as relative references.
	const plainHost = /^(?!x-[0-9a-f]{32}$)[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*$/
	const toReplay = value => {
		const text = String(value).trim()
		if (!/^(https?:|[\\/]{2})/i.test(text)) return value
		let url
		try { url = new URL(/^[\\/]/.test(text) ? config.scheme + ":" + text : text) } catch { return value }
		if (url.host.endsWith(config.group)) {
			url.protocol = "http:"
			return url.href
		}
		const port = url.port && "-" + url.port
		if (url.hostname.length > 160 || !plainHost.test(url.hostname)) return own + config.redirect + url.href
		return "http://" + url.protocol.slice(0, -1) + port + "." + url.hostname + config.group + url.pathname + url.search + url.hash
	}

	// toOriginal is the inverse of toReplay.
	const pattern = new RegExp("^http://(https?)(?:-(\\d+))?\\.([^/]*)" + config.group.replaceAll(".", "\\.") + "(?=$|[/?#])")
	const toOriginal = text => String(text).replace(pattern, (_, scheme, port, host) => scheme + "://" + host + (port ? ":" + port : ""))

	const property = (object, name, change) => {
		while (object && !Object.hasOwn(object, name)) object = Object.getPrototypeOf(object)
		const old = object && Object.getOwnPropertyDescriptor(object, name)
		if (old) Object.defineProperty(object, name, {...old, ...change(old)})
	}
	const getter = (object, name, convert) => property(object, name, old => ({get() { return convert(old.get.call(this)) }}))
	const setter = (object, name, convert) => property(object, name, old => ({set(value) { old.set.call(this, convert(value, this)) }}))
	const method = (object, name, convert) => property(object, name, old => ({
		value(...values) { return old.value.apply(this, convert(values, this)) },
	}))
	const first = values => values.length ? [values[0] instanceof Object && "url" in values[0] ? values[0] : toReplay(values[0]), ...values.slice(1)] : values
	const constructor = name => property(scope, name, old => ({
		value: new Proxy(old.value, {construct: (target, values, made) => Reflect.construct(target, first(values), made)}),
	}))

	// Requests of scripts, in pages and workers.
	for (const name of ["Request", "EventSource", "Worker", "SharedWorker", "Audio"]) constructor(name)
	method(scope, "fetch", first)
	method(scope, "importScripts", values => values.map(toReplay))
	if (scope.XMLHttpRequest) method(XMLHttpRequest.prototype, "open", ([verb, url, ...rest]) => [verb, toReplay(url), ...rest])
	if (scope.Navigator) method(Navigator.prototype, "sendBeacon", first)
	for (const [kind, name] of [["Request", "url"], ["Response", "url"], ["XMLHttpRequest", "responseURL"], ["MessageEvent", "origin"]]) {
		if (scope[kind]) getter(scope[kind].prototype, name, toOriginal)
	}
	Object.defineProperty(scope, "origin", {configurable: true, enumerable: true, get: () => config.origin})
	if (!page) return

	// The address of the page.
	for (const name of ["URL", "documentURI", "referrer"]) getter(Document.prototype, name, toOriginal)
	property(Document.prototype, "domain", () => ({get: () => config.hostname, set() {}}))
	setter(Document.prototype, "cookie", value => String(value).replace(/;\s*domain\s*=[^;]*/gi, ""))
	for (const name of ["pushState", "replaceState"]) {
		method(History.prototype, name, ([state, title, url]) => [state, title, url == null ? url : toReplay(url)])
	}
	method(scope, "postMessage", ([message, target, ...rest]) => [message, target === config.origin ? own : target, ...rest])

	// Elements that request their objects.
	const srcset = value => String(value).replace(/(^|[\s,])((?:https?:)?\/\/[^\s,]+)/gi, (_, before, url) => before + toReplay(url))
	const requesting = {
		HTMLImageElement: ["src", "srcset"], HTMLScriptElement: ["src"], HTMLLinkElement: ["href"], HTMLIFrameElement: ["src"],
		HTMLMediaElement: ["src"], HTMLVideoElement: ["poster"], HTMLSourceElement: ["src", "srcset"], HTMLTrackElement: ["src"],
		HTMLEmbedElement: ["src"], HTMLObjectElement: ["data"], HTMLInputElement: ["src"],
	}
	for (const [kind, names] of Object.entries(requesting)) {
		for (const name of names) setter(scope[kind].prototype, name, name === "srcset" ? srcset : toReplay)
	}
	for (const kind of ["HTMLScriptElement", "HTMLLinkElement"]) setter(scope[kind].prototype, "integrity", () => "")
	const convertAttribute = (element, name, value) => {
		const names = Object.entries(requesting).filter(([kind]) => element instanceof scope[kind]).flatMap(([, names]) => names)
		if (!names.includes(name)) return value
		return name === "srcset" ? srcset(value) : toReplay(value)
	}
	method(Element.prototype, "setAttribute", ([name, value], element) => [name, convertAttribute(element, String(name).toLowerCase(), value)])

	// Markup that scripts insert.
	const tag = /<[a-z](?:[^<>"']|"[^"]*"|'[^']*')*>/gi
	const attribute = /(\s)(src|srcset|poster|data|href)(\s*=\s*)("[^"]*"|'[^']*')/gi
	const markup = value => typeof value !== "string" || !value.includes("//") ? value : value.replace(tag, text =>
		text.replace(attribute, (_, space, name, equals, quoted) => {
			const convert = name.toLowerCase() === "srcset" ? srcset : toReplay
			return space + name + equals + quoted[0] + convert(quoted.slice(1, -1)) + quoted[0]
		}))
	setter(Element.prototype, "innerHTML", markup)
	setter(Element.prototype, "outerHTML", markup)
	method(Element.prototype, "insertAdjacentHTML", ([where, text]) => [where, markup(text)])
	for (const name of ["write", "writeln"]) method(Document.prototype, name, values => values.map(markup))

	// Navigations. The sandbox permits no other tabs.
	scope.navigation?.addEventListener("navigate", event => {
		const to = toReplay(event.destination.url)
		if (to === event.destination.url || !event.cancelable || event.formData) return
		event.preventDefault()
		location[event.navigationType === "replace" ? "replace" : "assign"](to)
	})
	addEventListener("click", event => {
		for (const element of event.composedPath()) {
			if (/^_(blank|top)$/i.test(element.target ?? "")) element.target = "_self"
		}
	}, true)
	scope.open = url => {
		if (navigator.userActivation?.isActive && url) location.assign(toReplay(url))
		return null
	}

	// The outermost archived page reports its address. It finds no other page
	// above it.
	if (parent !== top || scope === top) return document.currentScript?.remove()
	const above = parent
	scope.parent = scope
	const report = () => above.postMessage({archived: location.href, title: document.title}, config.frame)
	addEventListener("DOMContentLoaded", () => {
		new MutationObserver(report).observe(document.head, {childList: true, characterData: true, subtree: true})
		report()
	})
	scope.navigation?.addEventListener("currententrychange", report)
	document.currentScript?.remove()
}
