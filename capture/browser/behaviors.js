async (names, limit) => {
	const end = Date.now() + limit;
	const pause = ms => new Promise(done => setTimeout(done, ms));
	const late = () => Date.now() > end;
	const visible = e => e.checkVisibility() && e.getClientRects().length > 0;
	const result = {endless: false};

	if (names.details) {
		for (const e of document.querySelectorAll('details:not([open])')) { e.open = true; }
		const folded = document.querySelectorAll('button[aria-expanded=false], [role=button][aria-expanded=false]');
		for (const e of [...folded].slice(0, 50)) {
			if (visible(e)) { e.click(); }
		}
		await pause(200);
	}

	if (names.scroll) {
		const height = () => Math.max(document.documentElement.scrollHeight, document.body ? document.body.scrollHeight : 0);
		let same = 0, steps = 0;
		for (; same < 3 && steps < 100 && !late(); steps++) {
			const before = height();
			window.scrollBy({top: window.innerHeight * 0.8, behavior: 'instant'});
			await pause(150);
			const bottom = window.scrollY + window.innerHeight >= height() - 2;
			same = bottom && height() === before ? same + 1 : 0;
		}
		result.endless = same < 3;
		window.scrollTo({top: 0, behavior: 'instant'});
	}

	if (names.more) {
		const label = /^\s*(load|show|view|see|read)\s+(\w+\s+)?more\b|^\s*more\s+(results|entries|posts)|^\s*(mehr|weitere)\b|^\s*(afficher|voir|charger)\s+plus|^\s*(cargar|ver|mostrar)\s+más/i;
		for (let round = 0; round < 20 && !late(); round++) {
			const buttons = [...document.querySelectorAll('button, [role=button]')].filter(
				e => visible(e) && !e.disabled && !(e.type === 'submit' && e.form) && label.test(e.innerText.slice(0, 200)));
			if (!buttons.length) { break; }
			for (const e of buttons.slice(0, 5)) { e.click(); }
			await pause(500);
		}
	}

	if (names.media) {
		const all = [...document.querySelectorAll('video, audio')].slice(0, 20);
		for (const e of all) {
			e.muted = true;
			e.preload = 'auto';
			e.play().catch(() => {});
		}
		for (let i = 0; i < 40 && !late() && all.some(e => !e.ended && !e.error && e.readyState < 4); i++) {
			await pause(250);
		}
		for (const e of all) { e.pause(); }
	}
	return result;
}
