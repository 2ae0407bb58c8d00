/* Makes the page interactive. Whatever fails leaves the page as it is without a script. */
import { readData } from './data.js';
import { followSections, listenHelp } from './help.js';
import { listen, makeView } from './input.js';
import { Link } from './link.js';
import { improveTables } from './tables.js';
import { Timeline } from './timeline.js';

/* Lays out what the style sheet has put off, a section at a time, when there is nothing else to do. */
function settle(sections) {
	const later = window.requestIdleCallback ?? setTimeout;
	const next = () => {
		const section = sections.shift();
		if (!section) {
			performance.mark('gapline-settled');
			return;
		}
		section.classList.add('settled');
		later(next);
	};
	later(next);
}

/* The first paint goes first: what stands on the first screen needs no script. A page that nobody looks at has none. */
function painted() {
	return new Promise(done => {
		new PerformanceObserver(list => {
			if (list.getEntriesByName('first-contentful-paint').length) setTimeout(done);
		}).observe({ type: 'paint', buffered: true });
		setTimeout(done, 300);
	});
}

async function start() {
	let timeline = null;
	await painted();
	document.documentElement.classList.remove('early');
	try {
		const data = await readData(document.getElementById('data'));
		const parts = makeView(document.getElementById('picture'));
		timeline = new Timeline(data, parts.stage);
		listen(parts, timeline, new Link(timeline, parts));
	} catch (error) {
		console.warn(`gapline: the timeline stays a picture: ${error.message}`);
	}
	improveTables(timeline);
	listenHelp();
	addEventListener('beforeprint', () => document.querySelectorAll('details.chip, #rest > details').forEach(details => (details.open = true)));
	/* a frame that is asked for later comes after the timeline's first */
	requestAnimationFrame(() => {
		performance.mark('gapline-interactive');
		followSections(document.querySelector('nav'));
		settle([...document.querySelectorAll('nav ~ section')]);
	});
}

start();
