// Shows the address of the archived page in the frame. The browser states the
// origin of a message, so that a page cannot claim the address of another one.
"use strict"
{
	const frame = document.querySelector("iframe"), address = document.querySelector("#address")
	const {group, time} = frame.dataset
	const pattern = new RegExp("^http://(https?)(?:-(\\d+))?\\.([^/]*)" + group.replaceAll(".", "\\.") + "(?=/)")
	addEventListener("message", event => {
		const {archived, title} = event.data ?? {}
		if (event.source !== frame.contentWindow || typeof archived !== "string" || !archived.startsWith(event.origin + "/")) return
		const original = archived.replace(pattern, (_, scheme, port, host) => scheme + "://" + host + (port ? ":" + port : ""))
		if (original === archived) return
		address.textContent = original
		document.title = String(title || original).slice(0, 1000)
		history.replaceState(null, "", "/" + time + "/" + original)
	})
}
