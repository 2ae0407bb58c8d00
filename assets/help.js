/* The keys, on `?`, and a table of contents that follows. */

const KEYS = [
	['← →', 'move; with Shift half a screen'],
	['+ −', 'zoom'],
	['0', 'show everything'],
	['n p', 'the next long gap, the one before'],
	['Home End', 'the beginning, the end'],
	['Escape', 'highlight nothing'],
	['Tab', 'to buttons, tables and their names; Enter opens and highlights'],
	['?', 'this list'],
];

function makeHelp() {
	const dialog = document.createElement('dialog'), list = document.createElement('dl');
	const title = document.createElement('h2'), form = document.createElement('form'), close = document.createElement('button');
	dialog.className = 'help';
	title.textContent = 'Keys';
	title.id = 'keys';
	dialog.setAttribute('aria-labelledby', 'keys');
	for (const [key, words] of KEYS) {
		const term = document.createElement('dt'), meaning = document.createElement('dd');
		term.textContent = key;
		meaning.textContent = words;
		list.append(term, meaning);
	}
	form.method = 'dialog';
	close.textContent = 'Close';
	/* a policy may forbid that a form is sent, even to nowhere */
	close.type = 'button';
	close.addEventListener('click', () => dialog.close());
	form.append(close);
	dialog.append(title, list, form);
	document.body.append(dialog);
	return dialog;
}

export function listenHelp() {
	let dialog = null;
	addEventListener('keydown', event => {
		if (event.key !== '?' || event.ctrlKey || event.metaKey || event.altKey || event.target.closest?.('input')) return;
		event.preventDefault();
		dialog ??= makeHelp();
		if (!dialog.open) dialog.showModal();
	});
}

/* The section whose head was passed last is the one that is read. */
export function followSections(nav) {
	const links = new Map([...nav.querySelectorAll('a')].map(link => [link.hash.slice(1), link]));
	const sections = [...links.keys()].map(id => document.getElementById(id)).filter(Boolean);
	let frame = 0, current = null;
	const mark = () => {
		frame = 0;
		const line = innerHeight / 3;
		let now = sections[0];
		for (const section of sections) if (section.getBoundingClientRect().top <= line) now = section;
		if (now === current) return;
		links.get(current?.id)?.removeAttribute('aria-current');
		current = now;
		const link = links.get(now.id), list = link.closest('ul');
		link.setAttribute('aria-current', 'true');
		const left = link.offsetLeft - list.offsetLeft;
		if (left < list.scrollLeft || left + link.offsetWidth > list.scrollLeft + list.clientWidth) list.scrollLeft = left - 16;
	};
	addEventListener('scroll', () => (frame ||= requestAnimationFrame(mark)), { passive: true });
	mark();
}
