/* What the page looks like: both themes, a phone, paper. A picture of every part is compared with a kept one in looks/.
 *
 * Fonts, their versions and how letters are smoothed differ from one machine to the next, and must not matter; what must
 * is whether something is there, where, how large and in which colour. So both pictures are cut into cells, CELL pixels
 * wide, and only the cells' mean colours are compared: a letter is smaller than a cell. Parts are taken one by one, so
 * that a line that breaks elsewhere moves nothing below it. With another family of fonts altogether less than 2 % of the
 * cells of a part are far off.
 *
 * The kept pictures are those of the cells. What differs from them is written into the build folder, looks/: the part as
 * it is now, with the cells that are far off marked. `./dev refresh` keeps what is there now. */
import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import test from 'node:test';
import { PNG } from 'pngjs';
import { frames, KINDS, open, serve } from './browser.mjs';

const KEPT = path.join(import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname), 'looks');
const CELL = 16, REFRESH = Boolean(process.env.GAPLINE_REFRESH);
const TALLER = 0.12; /* a part may be so much higher or lower: lines break elsewhere */
const FAR = 48; /* a cell is far off beyond so many of 255 */
const DIFFERING = process.env.GAPLINE_DIFFERING;
const mostFar = part => (part === 'timeline' ? 0.02 : 0.03); /* of all cells; the timeline has few words */
const MEAN = 7; /* of all cells */

const LOOKS = {
	light: { report: 'pair', parts: ['verdict', 'timeline', 'phases', 'idle', 'findings', 'steps'] },
	dark: { report: 'pair', colorScheme: 'dark', parts: ['verdict', 'timeline', 'phases', 'idle', 'steps'] },
	phone: { report: 'devices', viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, parts: ['verdict', 'timeline', 'phases'] },
	paper: { report: 'devices', viewport: { width: 720, height: 1000 }, print: true, parts: ['verdict', 'timeline', 'phases'] },
	static: { report: 'pair', javaScriptEnabled: false, parts: ['timeline'] },
	forced: { report: 'pair', forcedColors: 'active', colorScheme: 'dark', parts: ['verdict', 'timeline'] },
	stopwatch: { report: 'stopwatch', parts: ['verdict'] },
	unchanged: { report: 'self', parts: ['verdict'] },
	inconclusive: { report: 'inconclusive', viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, parts: ['verdict'] },
	trend: { report: 'trend', javaScriptEnabled: false, parts: ['verdict', 'series-1'] },
	'trend-dark': { report: 'trend', javaScriptEnabled: false, colorScheme: 'dark', parts: ['verdict', 'series-1'] },
	'trend-phone': { report: 'trend', javaScriptEnabled: false, viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, parts: ['verdict', 'series-1'] },
	gpus: { report: 'gpus16', parts: ['verdict', 'timeline', 'ranks'] },
	'gpus-dark': { report: 'gpus16', colorScheme: 'dark', parts: ['verdict', 'timeline'] },
	'gpus-paper': { report: 'gpus16', viewport: { width: 703, height: 1000 }, print: true, parts: ['verdict', 'ranks'] },
	'gpus-phone': { report: 'gpus16', viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, parts: ['verdict'] },
	nothing: { report: 'nothing', parts: ['verdict'] },
	'no-steps': { report: 'no-steps', colorScheme: 'dark', parts: ['verdict'] },
};

/* The verdict of each kind of report, in every way in which a page is read; in CI (GAPLINE_ALL is not set) one way of a
 * kind and one kind in a way. */
const WAYS = {
	light: {},
	dark: { colorScheme: 'dark' },
	phone: { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true },
	paper: { viewport: { width: 703, height: 1000 }, print: true },
	static: { javaScriptEnabled: false },
	jenkins: { policy: 'jenkins' },
	forced: { forcedColors: 'active', colorScheme: 'dark' },
};
const kinds = KINDS.filter(name => name !== 'pair'); /* that has its own above */
for (const [i, report] of kinds.entries())
	for (const [j, [way, options]] of Object.entries(WAYS).entries())
		if (i % Object.keys(WAYS).length === j || REFRESH || 'GAPLINE_ALL' in process.env) LOOKS[`${way}-${report}`] = { report, parts: ['verdict'], ...options };

/* Mean colours of cells. */
function toCells(png) {
	const columns = Math.round(png.width / CELL), side = png.width / columns, rows = Math.max(Math.round(png.height / side), 1);
	const cells = new PNG({ width: columns, height: rows });
	for (let row = 0; row < rows; row++)
		for (let column = 0; column < columns; column++) {
			const sum = [0, 0, 0];
			let n = 0;
			for (let y = Math.floor((row * png.height) / rows); y < Math.floor(((row + 1) * png.height) / rows); y++)
				for (let x = Math.floor(column * side); x < Math.floor((column + 1) * side); x++, n++)
					for (let c = 0; c < 3; c++) sum[c] += png.data[4 * (y * png.width + x) + c];
			for (let c = 0; c < 3; c++) cells.data[4 * (row * columns + column) + c] = Math.round(sum[c] / n);
			cells.data[4 * (row * columns + column) + 3] = 255;
		}
	return cells;
}

/* Rows are matched by their share of the height, and with a neighbour: half a cell up or down is nothing. `marked` gets
 * the cells that are far off, [column, row] in shares. */
function compare(now, kept, marked = []) {
	let far = 0, sum = 0;
	for (let row = 0; row < kept.height; row++)
		for (let column = 0; column < kept.width; column++) {
			const middle = Math.min(Math.round(((row + 0.5) * now.height) / kept.height - 0.5), now.height - 1);
			let best = Infinity;
			for (let other = Math.max(middle - 1, 0); other <= Math.min(middle + 1, now.height - 1); other++) {
				const a = 4 * (row * kept.width + column), b = 4 * (other * kept.width + column);
				best = Math.min(best, Math.max(...[0, 1, 2].map(c => Math.abs(kept.data[a + c] - now.data[b + c]))));
			}
			sum += best;
			far += best > FAR;
			if (best > FAR) marked.push([column / kept.width, row / kept.height]);
		}
	const cells = kept.height * kept.width;
	return { far: far / cells, mean: sum / cells };
}

/* The picture, with a frame around every marked cell. */
async function writeMarked(png, kept, marked, name) {
	const wide = png.width / kept.width, high = png.height / kept.height;
	for (const [column, row] of marked)
		for (let y = 0; y < high; y++)
			for (let x = 0; x < wide; x++) {
				if (x > 1 && y > 1 && x < wide - 2 && y < high - 2) continue;
				const at = Math.floor(row * png.height + y) * png.width + Math.floor(column * png.width + x);
				png.data.set([255, 0, 255, 255], 4 * at);
			}
	await mkdir(DIFFERING, { recursive: true });
	const file = path.join(DIFFERING, `${name}.png`);
	await writeFile(file, PNG.sync.write(png));
	return file;
}

for (const [look, { report, parts, print, policy, ...options }] of Object.entries(LOOKS))
	test(`${report} looks as it did: ${look}`, async () => {
		const page = await open(report, policy ? { at: `${await serve()}/${policy}/${report}.html`, ...options } : options);
		if (print) await page.emulateMedia({ media: 'print' });
		if (!policy && options.javaScriptEnabled !== false) await frames(page, 4);
		const wrong = [];
		await mkdir(KEPT, { recursive: true });
		for (const part of parts) {
			const png = PNG.sync.read(await page.locator(`#${part}`).screenshot({ animations: 'disabled' }));
			const now = toCells(png), file = path.join(KEPT, `${look}-${part}.png`);
			if (REFRESH) {
				await writeFile(file, PNG.sync.write(now));
				continue;
			}
			const kept = PNG.sync.read(await readFile(file));
			const marked = [], { far, mean } = compare(now, kept, marked);
			const height = Math.abs(now.height / kept.height - 1) <= TALLER + 1 / kept.height;
			if (height && far <= mostFar(part) && mean <= MEAN) continue;
			const percent = (100 * far).toFixed(1), written = await writeMarked(png, kept, marked, `${look}-${part}`);
			wrong.push(`${part}: ${now.height} rows of cells, kept ${kept.height}; ${percent} % are far off, ${mean.toFixed(1)} in the mean: ${written}`);
		}
		assert.deepEqual(wrong, []);
	});

test('the comparison notices what matters', async () => {
	if (REFRESH) return;
	const kept = async name => PNG.sync.read(await readFile(path.join(KEPT, `${name}.png`)));
	const light = await kept('light-timeline'), dark = await kept('dark-timeline');
	assert.ok(compare(dark, light).mean > 10 * MEAN, 'another theme');
	const blank = new PNG({ width: light.width, height: light.height });
	blank.data.fill(255);
	assert.ok(compare(blank, light).far > 2 * mostFar('timeline'), 'nothing drawn');
	const page = await open('pair');
	await page.locator('#idle .all > summary').click();
	await page.locator('#idle tbody').getByRole('button', { name: 'GPU dispatch' }).first().click();
	await frames(page, 4);
	const dimmed = toCells(PNG.sync.read(await page.locator('#timeline').screenshot()));
	const { far, mean } = compare(dimmed, light);
	assert.ok(far > mostFar('timeline') || mean > MEAN, 'gaps that lost their colour');
});

test('paper has every part of a whole, with a script and without', async () => {
	for (const options of [{}, { javaScriptEnabled: false }])
		for (const report of ['example', 'gpus16']) {
			const page = await open(report, options);
			const hidden = () =>
				page.evaluate(() => ['phases', 'idle'].flatMap(id => [...document.querySelectorAll(`#${id} tbody tr`)].map(row => (row.classList.contains('more') ? 'sum ' : '') + (row.getClientRects().length ? 'shown' : 'hidden'))));
			assert.ok((await hidden()).includes('hidden'), `${report}: folded on a screen`);
			await page.emulateMedia({ media: 'print' });
			assert.deepEqual([...new Set(await hidden())].sort(), (await hidden()).includes('sum hidden') ? ['shown', 'sum hidden'] : ['shown'], `${report}: whole on paper`);
			/* what is folded elsewhere is open, too; a header's button would not be repeated on the next page */
			assert.deepEqual(await page.evaluate(() => [...document.querySelectorAll('details:not(.all) > :not(summary)')].filter(node => !node.checkVisibility({ contentVisibilityAuto: true })).map(node => node.outerHTML.slice(0, 80))), [], report);
			assert.deepEqual(await page.evaluate(() => [...document.querySelectorAll('thead button')].filter(button => getComputedStyle(button).display !== 'contents').length), 0);
		}
});

test('a report is a few pages of A4, and no page is blank', async () => {
	const page = await open('devices'), job = await open('gpus16');
	await job.emulateMedia({ media: 'print' });
	await job.setViewportSize({ width: 703, height: 1000 });
	assert.ok((await job.evaluate(() => document.documentElement.scrollWidth)) <= 703, 'nothing of a job sticks out');
	const pdf = (await page.pdf({ format: 'A4', printBackground: true })).toString('latin1');
	const pages = pdf.match(/\/Type\s*\/Page\b(?!s)/g).length;
	assert.ok(pages >= 3 && pages <= 8, `${pages} pages`);
	assert.match(pdf, /\/MediaBox\s*\[0 0 59[45][.\d]* 84[12]/);
	/* nothing sticks out of the paper: 186 mm are left between the margins */
	await page.emulateMedia({ media: 'print' });
	await page.setViewportSize({ width: 703, height: 1000 });
	const wide = await page.evaluate(() => [...document.querySelectorAll('svg, table')].filter(node => node.getBoundingClientRect().right > innerWidth + 1).map(node => node.closest('section').id));
	assert.deepEqual(wide, []);
});
