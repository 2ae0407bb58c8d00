/* The gap timeline under the hands of a reader. Known answers come from the fixture `pair`: three steps of 56.31 ms, each
 * beginning with a gap of 31.6 ms for host code in data_load (tests/support/fixture_timeline.c). */
import assert from 'node:assert/strict';
import test from 'node:test';
import { dataOf, frames, leave, open, shown, stageBox } from './browser.mjs';

const MS = 1e6, ALL = 3 * 56.31 * MS;
const near = (value, wanted, within) => assert.ok(Math.abs(value - wanted) <= within, `${value} is not ${wanted} ± ${within}`);

/* Where time lies on the screen when all of it is shown: the gutter, and a little room on both sides. */
async function place(page) {
	const box = await stageBox(page), left = box.x + 184, width = box.width - 184 - 8;
	const [least, most] = [-0.004 * ALL, 1.012 * ALL];
	return { box, left, width, xOf: ns => left + ((ns - least) / (most - least)) * width };
}

/* The colours of pixels of the canvas, one x and many y, which is clear where nothing is drawn: all at once, as each look
 * takes the canvas apart. */
function coloursAt(page, x, ys) {
	return page.evaluate(
		([px, all]) => {
			const canvas = document.querySelector('#stage canvas'), frame = canvas.getBoundingClientRect();
			const ratio = canvas.width / frame.width;
			const { data } = canvas.getContext('2d').getImageData(Math.round((px - frame.x) * ratio), 0, 1, canvas.height);
			return all.map(y => {
				const at = 4 * Math.round((y - frame.y) * ratio), alpha = data[at + 3];
				return [0, 1, 2].map(c => (data[at + c] * alpha + 255 * (255 - alpha)) / 255); /* the card is white */
			});
		},
		[x, ys],
	);
}
const colourAt = async (page, x, y) => (await coloursAt(page, x, [y]))[0];

const ORANGE = [0xd5, 0x5e, 0x00];
const isOrange = colour => colour.every((c, i) => Math.abs(c - ORANGE[i]) < 12);

/* The rows of a canvas column that are orange: where the baseline's gap lane is. */
async function gapLane(page, x, box) {
	const rows = [];
	for (let y = box.y + 2; y < box.y + box.height - 60; y += 3) rows.push(y);
	const colours = await coloursAt(page, x, rows);
	return rows.filter((_, i) => isOrange(colours[i]));
}

test('the gaps are where the fixture has them, in the colour of their cause', async () => {
	const page = await open('pair'), { box, xOf } = await place(page);
	for (const step of [0, 1, 2]) {
		const start = step * 56.31 * MS, rows = await gapLane(page, xOf(start + 28 * MS), box);
		assert.ok(rows.length >= 8, `a lane of ${rows.length * 3} pixels`);
		const y = rows[Math.floor(rows.length / 2)];
		assert.ok(isOrange(await colourAt(page, xOf(start + 31.2 * MS), y)), 'still a gap');
		assert.ok(!isOrange(await colourAt(page, xOf(start + 32.4 * MS), y)), 'the GPU works again');
		assert.ok(!isOrange(await colourAt(page, xOf(start - 0.6 * MS), y)), 'and did before');
	}
});

test('the wheel zooms around the pointer, down to a microsecond, and out again', async () => {
	const page = await open('pair'), { box, left, width, xOf } = await place(page);
	const at = 80 * MS, x = xOf(at);
	await page.mouse.move(x, box.y + 60);
	await page.mouse.wheel(0, -300);
	const [start, end] = await shown(page);
	assert.ok(end - start < 0.7 * ALL, 'closer');
	near(start + ((x - left) / width) * (end - start), at, 0.004 * ALL);
	for (let i = 0; i < 40; i++) await page.mouse.wheel(0, -300);
	const [least, most] = await shown(page);
	assert.equal(most - least, 1000);
	assert.ok(least <= at + 0.004 * ALL && most >= at - 0.004 * ALL);
	for (let i = 0; i < 45; i++) await page.mouse.wheel(0, 300);
	assert.equal(await shown(page), null);
});

test('a wheel that scrolls the page is not caught', async () => {
	const page = await open('pair');
	await page.evaluate(() => scrollTo(0, 0));
	await page.mouse.move(640, 450);
	for (let i = 0; i < 12; i++) {
		await page.mouse.wheel(0, 120);
		await page.waitForTimeout(30);
	}
	assert.ok((await page.evaluate(() => scrollY)) > 1000);
	assert.equal(await shown(page), null);
});

test('dragging moves, and the small picture below leads anywhere', async () => {
	const page = await open('pair'), { box, left, width, xOf } = await place(page);
	await page.mouse.move(xOf(80 * MS), box.y + 60);
	for (let i = 0; i < 3; i++) await page.mouse.wheel(0, -300);
	const before = await shown(page), length = before[1] - before[0];
	await page.mouse.down();
	await page.mouse.move(xOf(80 * MS) + width / 10, box.y + 60, { steps: 4 });
	await page.mouse.up();
	const dragged = await shown(page);
	near(dragged[0], before[0] - length / 10, length / 200);
	near(dragged[1] - dragged[0], length, 2);
	await page.mouse.click(left + 0.9 * width, box.y + box.height - 10);
	const jumped = await shown(page);
	near((jumped[0] + jumped[1]) / 2, -0.004 * ALL + 0.9 * 1.016 * ALL, 0.01 * ALL);
});

test('keys: + and − zoom, arrows move, Home and End go to the edges, 0 shows everything', async () => {
	const page = await open('pair');
	await page.locator('#stage').focus();
	const press = async key => (await page.keyboard.press(key), shown(page));
	const all = 1.016 * ALL;
	const closer = await press('+');
	near(closer[1] - closer[0], all / 1.6, 10);
	near((closer[0] + closer[1]) / 2, all / 2 - 0.004 * ALL, 10);
	const right = await press('ArrowRight');
	near(right[0] - closer[0], 0.1 * (closer[1] - closer[0]), 10);
	const left = await press('ArrowLeft');
	near(left[0], closer[0], 10);
	const home = await press('Home');
	near(home[0], -0.004 * ALL, 10);
	const end = await press('End');
	near(end[1], 1.012 * ALL, 10);
	assert.equal(await press('-'), null);
	await press('+');
	assert.equal(await press('0'), null);
});

test('n and p go from gap to gap and say what they are', async () => {
	const page = await open('pair'), said = page.locator('.said');
	await page.locator('#stage').focus();
	await page.keyboard.press('n');
	assert.match(await said.textContent(), /^Gap 1 of \d+\. baseline: the GPU is idle for 31\.60 ms: 31\.60 ms host code in data_load/);
	const [start, end] = await shown(page);
	near((end - start) / 2.5, 31.6 * MS, 0.2 * MS);
	await page.keyboard.press('n');
	assert.match(await said.textContent(), /^Gap 2 of /);
	const next = await shown(page);
	assert.ok(next[0] > start);
	await page.keyboard.press('p');
	near((await shown(page))[0], start, 2);
	await page.getByRole('button', { name: 'The next long gap (n)' }).click();
	assert.match(await said.textContent(), /^Gap 2 of /);
});

test('all gaps that are wider than a pixel can be reached', async () => {
	const page = await open('pair'), data = await dataOf('pair');
	const { width } = await place(page), pixel = (1.016 * ALL) / width;
	const wide = data.sides.map(side => side.gaps.reduce((n, of) => n + of.length.filter(ns => ns > pixel).length, 0));
	await page.locator('#stage').focus();
	await page.keyboard.press('n');
	const [, count] = /of (\d+)\./.exec(await page.locator('.said').textContent());
	assert.ok(Number(count) >= wide[0] + wide[1], `${count} of ${wide}`);
});

test('pointing says what it is: name, duration, phase, cause, launch, stream', async () => {
	const page = await open('pair'), { box, xOf } = await place(page), tip = page.locator('.tip');
	const lines = async (x, y) => {
		await page.mouse.move(x, y);
		await frames(page);
		return (await tip.isVisible()) ? tip.innerText() : '';
	};
	const rows = await gapLane(page, xOf(28 * MS), box);
	const gap = await lines(xOf(28 * MS), rows[Math.floor(rows.length / 2)]);
	assert.match(gap, /GPU idle 31\.60 ms: host code in data_load/);
	assert.match(gap, /opened by/);
	assert.match(gap, /from 0 ms to 31\.60 ms/);
	/* over the lanes above it, from the top: a phase, a call, a kernel */
	const seen = [];
	for (let y = box.y + 30; y < rows[0]; y += 6) seen.push(await lines(xOf(45 * MS), y));
	const all = seen.join('\n');
	assert.match(all, /backward\n15\.60 ms/);
	assert.match(all, /cudaLaunchKernel/);
	/* a single kernel: close enough that each has a place of its own */
	await page.mouse.move(xOf(45 * MS), box.y + 60);
	for (let i = 0; i < 8; i++) await page.mouse.wheel(0, -300);
	await frames(page);
	let kernel = '';
	for (let y = box.y + 30; y < rows[0] && !kernel; y += 6) {
		for (const dx of [0, 40, 80, 160]) {
			const text = await lines(xOf(45 * MS) + dx, y);
			if (/sm90_xmma_gemm/.test(text)) kernel = text;
		}
	}
	assert.match(kernel, /stream 7 in backward/);
	assert.match(kernel, /launched 0\.1300 ms before it started, in a call of 65\.00 µs/); /* a quarter of 15.6 ms / 30, an eighth */
	await page.mouse.move(box.x + 20, box.y + 5);
	await frames(page);
	assert.ok(!(await tip.isVisible()));
});

test('a cause in a table lights up its gaps and dims the others', async () => {
	const page = await open('pair'), { box, xOf } = await place(page);
	const rows = await gapLane(page, xOf(28 * MS), box), y = rows[Math.floor(rows.length / 2)];
	await page.locator('#idle .all > summary').click(); /* less than one percent of a step */
	const light = page.locator('#idle tbody tr', { hasText: 'GPU dispatch' }).first().getByRole('button').first();
	await light.click();
	await page.waitForTimeout(400);
	assert.equal(await light.getAttribute('aria-pressed'), 'true');
	assert.match(await page.evaluate(() => location.hash), /lit=dispatch@/);
	const again = await place(page), dimmed = await colourAt(page, again.xOf(28 * MS), y - box.y + again.box.y);
	assert.ok(!isOrange(dimmed) && dimmed[0] > dimmed[2], `dimmed, but not gone: ${dimmed}`);
	await page.locator('#stage').focus();
	await page.keyboard.press('Escape');
	await frames(page);
	assert.ok(isOrange(await colourAt(page, again.xOf(28 * MS), y - box.y + again.box.y)));
	/* a phase does the same */
	await page.locator('#phases tbody').getByRole('button', { name: 'data_load' }).click();
	await page.waitForTimeout(400);
	const third = await place(page);
	assert.ok(isOrange(await colourAt(page, third.xOf(28 * MS), y - box.y + third.box.y)));
	assert.match(await page.locator('.bar').innerText(), /highlighted: data_load/);
});

test('the link brings back what is shown, what is lit and the chosen gap', async () => {
	const page = await open('pair');
	await page.locator('#idle tbody').getByRole('button', { name: 'host code' }).first().click();
	await page.locator('#stage').focus();
	await page.keyboard.press('n');
	await page.keyboard.press('ArrowRight');
	const here = await shown(page), fragment = await page.evaluate(() => location.hash);
	const said = await page.locator('.said').textContent();
	assert.match(fragment, /t=.*gap=0\.0\.\d+.*lit=host_code@data_load@/);
	const other = await open('pair', { fragment });
	assert.deepEqual(await shown(other), here);
	assert.equal(await other.locator('.said').textContent(), said);
	assert.equal(await other.locator('#idle tbody').getByRole('button', { name: 'host code' }).first().getAttribute('aria-pressed'), 'true');
	/* what somebody made up does no harm */
	for (const bad of ['#t=9..1', '#t=1e9..2e9', '#gap=7.7.7', '#lit=%E0%A4%A@x@y', '#lit=<img src=x>@-@-', '#t=-99999999999999999999..99999999999999999999']) {
		const odd = await open('pair', { fragment: bad });
		assert.deepEqual(odd.wrong, [], bad);
		assert.ok(await odd.locator('#stage canvas').isVisible());
		await leave(odd);
	}
});

test('the link leads to the same place in a report that is made again of the same profiles', async () => {
	const page = await open('example');
	await page.locator('#stage').focus();
	for (const key of ['n', 'n', '+', 'ArrowRight']) await page.keyboard.press(key);
	await page.waitForFunction(() => /gap=/.test(location.hash)); /* a busy machine is late */
	await page.waitForTimeout(300);
	const here = await shown(page), fragment = await page.evaluate(() => location.hash), said = await page.locator('.said').textContent();
	assert.match(said, /^Gap 2 of \d+\. /);
	const again = await open('again', { fragment });
	assert.equal(await again.locator('h1').innerText(), 'again');
	assert.deepEqual(await shown(again), here);
	assert.equal(await again.locator('.said').textContent(), said);
});

test('a trackpad pans with two fingers, however they waver, and pinches', async () => {
	const page = await open('pair'), { box, xOf } = await place(page);
	await page.mouse.move(xOf(80 * MS), box.y + 60);
	for (let i = 0; i < 4; i++) await page.mouse.wheel(0, -300);
	const before = await shown(page), length = before[1] - before[0];
	await page.waitForTimeout(400);
	const scrolled = await page.evaluate(() => scrollY);
	for (const [x, y] of [[40, 3], [40, -9], [12, 30], [28, 4]]) await page.mouse.wheel(x, y);
	const panned = await shown(page);
	near(panned[1] - panned[0], length, 2);
	near(panned[0] - before[0], ((40 + 40 + 12 + 28) / (box.width - 184 - 8)) * length, 4);
	assert.equal(await page.evaluate(() => scrollY), scrolled, 'the page stays where it is');
	/* browsers tell of a pinch as of a wheel with Ctrl */
	await page.keyboard.down('Control');
	await page.mouse.wheel(0, -60);
	await page.keyboard.up('Control');
	const pinched = await shown(page);
	assert.ok(pinched[1] - pinched[0] < 0.95 * length);
});

test('damaged data leaves the static picture, and the tables work', async () => {
	const { writeFile, readFile } = await import('node:fs/promises');
	const { fileOf } = await import('./browser.mjs');
	const html = await readFile(fileOf('pair'), 'utf8');
	for (const [name, change] of [
		['cut', text => text.slice(0, text.length / 2)],
		['noise', text => text.replaceAll('A', '%')],
		['empty', () => ''],
		['other', () => 'eJyrVgIAAKcAfA=='],
	]) {
		await writeFile(fileOf(`damaged-${name}.html`), html.replace(/(<script id="data"[^>]*>)([^<]*)/, (_, head, text) => head + change(text)));
		const page = await open(`damaged-${name}`);
		assert.ok(await page.locator('#picture svg').isVisible(), name);
		assert.equal(await page.locator('#stage').count(), 0, name);
		assert.ok(await page.getByRole('button', { name: 'Copy table' }).first().isVisible(), name);
		assert.equal(page.wrong.filter(text => !text.includes('the timeline stays a picture')).length, 0, name);
	}
});

test('fingers: one moves, two zoom', async () => {
	const page = await open('pair', { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
	const box = await stageBox(page), session = await page.context().newCDPSession(page);
	const touch = (type, points) => session.send('Input.dispatchTouchEvent', { type, touchPoints: points.map(([x, y], id) => ({ x, y, id })) });
	const y = box.y + 60, middle = box.x + box.width / 2;
	await touch('touchStart', [[middle - 20, y], [middle + 20, y]]);
	for (let d = 20; d <= 120; d += 20) await touch('touchMove', [[middle - d, y], [middle + d, y]]);
	await touch('touchEnd', []);
	const zoomed = await shown(page);
	assert.ok(zoomed && zoomed[1] - zoomed[0] < 0.5 * ALL, `${zoomed}`);
	await touch('touchStart', [[middle, y]]);
	for (let d = 0; d <= 60; d += 10) await touch('touchMove', [[middle + d, y]]);
	await touch('touchEnd', []);
	const moved = await shown(page);
	assert.ok(moved[0] < zoomed[0]);
	near(moved[1] - moved[0], zoomed[1] - zoomed[0], 5);
});
