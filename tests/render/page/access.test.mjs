/* For everybody: keyboard only, screen readers, colours, phones; and what a checker of HTML says. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import test from 'node:test';
import { promisify } from 'node:util';
import { dataOf, fileOf, jsonOf, leave, open, RECORDED, REPORTS, some } from './browser.mjs';

const require = createRequire(import.meta.url);

test('the Nu checker finds nothing', async t => {
	const jar = require.resolve('vnu-jar/build/dist/vnu.jar');
	/* a few seconds of work: the second compiler would take longer than it saves, the first wants a larger stack */
	const quick = ['-XX:TieredStopAtLevel=1', '-Xss8m'];
	const done = await promisify(execFile)('java', [...quick, '-jar', jar, '--format', 'json', ...some(REPORTS).map(fileOf)], { maxBuffer: 1 << 26 }).catch(error => error);
	if (done.code === 'ENOENT') return t.skip('java is not installed');
	const { messages } = JSON.parse(done.stderr);
	/* it does not work out the hashes that the policy names */
	const left = messages.filter(m => !/violates Content Security Policy \(meta tag\)/.test(m.message));
	assert.deepEqual(left.map(m => `${m.url.split('/').at(-1)}:${m.lastLine}: ${m.message}`), []);
});

/* A key draws the page anew: less of it takes less time. */
const LOW = { viewport: { width: 1280, height: 200 } };

test('everything can be reached and used with the keyboard alone', async () => {
	const page = await open('pair', LOW);
	const seen = new Set();
	for (let i = 0; i < 400; i++) {
		await page.keyboard.press('Tab');
		const at = await page.evaluate(() => {
			const node = document.activeElement;
			if (node === document.body) return null;
			const { outlineStyle, opacity } = getComputedStyle(node);
			const shadow = node.closest('.name-tools') ? getComputedStyle(node.closest('.name-tools')).opacity : opacity;
			return { key: `${node.tagName} ${node.getAttribute('aria-label') ?? node.textContent.trim().slice(0, 40)}`, outlined: outlineStyle !== 'none', seen: shadow };
		});
		if (!at) break;
		assert.ok(at.outlined, `${at.key} shows that it has the focus`);
		assert.equal(at.seen, '1', `${at.key} can be seen`);
		seen.add(at.key);
	}
	const all = [...seen].join('\n');
	for (const wanted of [/^A Timeline$/m, /^BUTTON Zoom in \(\+\)$/m, /^DIV GPU idle gaps, baseline above fixed/m, /^SUMMARY /m, /^BUTTON data_load$/m, /^INPUT Search all 40 rows of kernels$/m, /^BUTTON Copy table$/m, /^BUTTON whole name$/m])
		assert.match(all, wanted);
});

test('every kernel is reached by the keyboard alone', async () => {
	for (const name of ['kernel', 'pair', ...some(RECORDED.filter(report => report === 'gpt2'))]) {
		const page = await open(name, LOW), json = await jsonOf(name);
		const wanted = new Set([...json.baseline.kernels, ...json.fixed.kernels].map(kernel => kernel.name));
		const focused = () => page.evaluate(() => document.activeElement.textContent.trim());
		for (let i = 0; i < 100 && (await focused()) !== 'Kernels'; i++) await page.keyboard.press('Tab');
		await page.keyboard.press('Enter'); /* to the section */
		const seen = new Set();
		for (let i = 0; i < 6 * wanted.size + 60 && seen.size < wanted.size; i++) {
			await page.keyboard.press('Tab');
			const at = await page.evaluate(() => {
				const node = document.activeElement, cell = node.closest('#kernels tbody th');
				if (cell && node.classList.contains('light')) return { name: cell.querySelector('[data-whole]')?.dataset.whole ?? node.textContent };
				return node.matches('#kernels summary') ? { opens: !node.parentNode.open } : {};
			});
			if (at.name) seen.add(at.name);
			if (at.opens) {
				/* the rows stand before it */
				await page.keyboard.press('Enter');
				for (let k = 0; k < 3 * wanted.size && (await page.evaluate(() => Boolean(document.activeElement.closest('#kernels')))); k++) await page.keyboard.press('Shift+Tab');
			}
		}
		assert.deepEqual([...wanted].filter(kernel => !seen.has(kernel)), [], name);
		await leave(page);
	}
});

test('tables have captions and headers, pictures titles and descriptions', async () => {
	for (const name of ['pair', 'devices', 'no-steps']) {
		const page = await open(name, { javaScriptEnabled: false });
		const wrong = await page.evaluate(() => {
			const list = [];
			for (const table of document.querySelectorAll('table')) {
				if (!table.caption?.textContent.trim()) list.push('a table without a caption');
				for (const cell of table.tHead.rows[0].cells) if (cell.tagName === 'TH' && cell.scope !== 'col') list.push('a column without scope');
				for (const row of [...table.tBodies].flatMap(body => [...body.rows])) if (row.cells[0].tagName !== 'TH' || row.cells[0].scope !== 'row') list.push(`a row without a header: ${row.textContent}`);
				if (new Set([...table.rows].map(row => row.cells.length)).size !== 1) list.push(`rows of different lengths: ${table.caption.textContent}`);
			}
			for (const svg of document.querySelectorAll('svg')) {
				if (svg.parentElement.closest('svg') || svg.getAttribute('aria-hidden') === 'true') continue;
				if (svg.getAttribute('role') !== 'img' || !svg.querySelector(':scope > title')?.textContent || !svg.querySelector(':scope > desc')?.textContent) list.push(`a picture without words in ${svg.closest('section').id}`);
			}
			const levels = [...document.querySelectorAll('h1, h2, h3')].map(h => Number(h.tagName[1]));
			if (levels[0] !== 1 || levels.some((level, i) => i && level > levels[i - 1] + 1)) list.push('headings skip a level');
			return list;
		});
		assert.deepEqual(wrong, [], name);
		await leave(page);
	}
});

/* Simulations of Viénot, Brettel and Mollon (1999), for the two common kinds, in linear RGB. */
const SEEN_BY = {
	protan: [[0.11238, 0.88762, 0], [0.11238, 0.88762, 0], [0.00401, -0.00401, 1]],
	deutan: [[0.29275, 0.70725, 0], [0.29275, 0.70725, 0], [-0.02234, 0.02234, 1]],
};
const linear = c => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
const gamma = c => (c <= 0.0031308 ? 12.92 * c : 1.055 * c ** (1 / 2.4) - 0.055);
const rgb = hex => [1, 3, 5].map(i => linear(parseInt(hex.slice(i, i + 2), 16) / 255));

function lab([r, g, b]) {
	const f = t => (t > 216 / 24389 ? Math.cbrt(t) : (24389 / 27 * t + 16) / 116);
	const x = f((0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505), y = f(0.2126 * r + 0.7152 * g + 0.0722 * b), z = f((0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089);
	return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

/* The causes' colours of a theme, the work's beside them and the page's below stripes. */
async function coloursOf(colorScheme) {
	const page = await open('pair', { colorScheme }), { palette } = await dataOf('pair');
	const colours = await page.evaluate(all => all.map(([name, otherwise]) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim() || otherwise), [...palette.map(swatch => [swatch.class, swatch.colour]), ['card', '']]);
	const themed = palette.map((swatch, i) => ({ ...swatch, colour: rgb(colours[i]) }));
	return { causes: themed.filter(swatch => swatch.cause), work: themed.find(swatch => swatch.class === 'compute').colour, card: rgb(colours.at(-1).replace(/^#(.)(.)(.)$/, '#$1$1$2$2$3$3')) };
}

const seenBy = (c, matrix) => (matrix ? matrix.map(row => Math.max(0, row[0] * c[0] + row[1] * c[1] + row[2] * c[2])) : c);
const light = c => 0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2];
function contrast(a, b, matrix) {
	const [low, high] = [a, b].map(c => light(seenBy(c, matrix))).sort((x, y) => x - y);
	return (high + 0.05) / (low + 0.05);
}

const EYES = [['all', null], ...Object.entries(SEEN_BY)];

test('causes are told apart without seeing red or green', async () => {
	for (const theme of ['light', 'dark']) {
		const { causes } = await coloursOf(theme);
		for (const [kind, matrix] of EYES)
			causes.forEach((a, i) =>
				causes.slice(i + 1).forEach(b => {
					if (a.striped !== b.striped || a.marks !== b.marks) return; /* a pattern tells them apart */
					const [x, y] = [a, b].map(({ colour }) => lab(seenBy(colour, matrix)));
					const distance = Math.hypot(...x.map((v, axis) => v - y[axis]));
					assert.ok(distance > 10, `${theme}, ${kind}: ${a.label} and ${b.label} are ${distance.toFixed(1)} apart`);
				}),
			);
	}
});

/* Contrast is of lightness alone, so that what holds here holds in greys, too. */
test('no cause looks like the work beside it, in greys and without seeing red or green', async () => {
	for (const theme of ['light', 'dark']) {
		const { causes, work, card } = await coloursOf(theme), ink = rgb('#111111');
		for (const [kind, matrix] of EYES)
			for (const { label, colour, striped, marks } of causes) {
				/* a plain one by its lightness, a pattern by that of its own parts */
				const mark = rgb(`#${colour.map((c, i) => Math.round(255 * (0.42 * gamma(ink[i]) + 0.58 * gamma(c))).toString(16).padStart(2, '0')).join('')}`);
				const [found, least] = striped ? [contrast(colour, card, matrix), 2] : marks ? [contrast(colour, mark, matrix), 2] : [contrast(colour, work, matrix), 1.45];
				assert.ok(found >= least, `${theme}, ${kind}: ${label}: ${found.toFixed(2)}`);
			}
	}
});

test('on a phone nothing is cut off, and words are no smaller than 11 pixels', async () => {
	for (const name of ['pair', 'devices', 'no-steps', 'names']) {
		const page = await open(name, { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true });
		const wrong = await page.evaluate(() => {
			const list = [], width = 360; /* innerWidth grows with what sticks out */
			/* a kernel's name has no place to break */
			for (const cell of document.querySelectorAll('#verdict dd, #findings p')) cell.append(` ${'sm90_xmma_gemm'.repeat(8)}`);
			if (document.documentElement.scrollWidth > width) list.push(`the page is ${document.documentElement.scrollWidth} wide`);
			for (const node of document.querySelectorAll('p, h1, h2, h3, li, dd, dt, th, td, button, text')) {
				const box = node.getBoundingClientRect();
				if (!box.width || !node.textContent.trim() || node.closest('.put-away, .scroll, details:not([open])')) continue;
				if (box.right > width + 1 && !node.closest('nav')) list.push(`cut off: ${node.textContent.slice(0, 40)}`);
				const slice = node.closest(':is(.glance, .why) svg svg');
				if (slice && box.width > slice.width.baseVal.value) list.push(`cut by its slice: ${node.textContent}`);
				if (parseFloat(getComputedStyle(node).fontSize) < 11) list.push(`tiny: ${node.textContent.slice(0, 40)}`);
			}
			return list;
		});
		assert.deepEqual(wrong, [], name);
		await leave(page);
	}
});
