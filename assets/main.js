/* Makes the page interactive. Whatever fails leaves the page as it is without a script. */
import { readData } from './data.js';
import { listen, makeView } from './input.js';
import { Link } from './link.js';
import { improveTables } from './tables.js';
import { Timeline } from './timeline.js';

async function start() {
	let timeline = null;
	try {
		const data = await readData(document.getElementById('data'));
		const parts = makeView(document.getElementById('picture'));
		timeline = new Timeline(data, parts.stage);
		listen(parts, timeline, new Link(timeline, parts));
	} catch (error) {
		console.warn(`gapline: the timeline stays a picture: ${error.message}`);
	}
	improveTables(timeline);
	performance.mark('gapline-interactive');
}

start();
