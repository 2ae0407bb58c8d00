/* Results over commits: a page without scripts, for everybody. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import test from 'node:test';
import { fileOf, leave, open, serve } from './browser.mjs';

const require = createRequire(import.meta.url);
const openTrend = (options = {}) => open('trend', { javaScriptEnabled: false, ...options });

test('it says where it stands and which commit it was', async () => {
	const page = await openTrend();
	assert.match(await page.locator('#verdict .result').innerText(), /^Slower\s+\+6\.0 %$/);
	const commit = (0x1a2b3c0 + 60 * 40503).toString(16), before = (0x1a2b3c0 + 59 * 40503).toString(16);
	assert.match(await page.locator('#verdict').innerText(), new RegExp(`Since ${commit}: .*phase data_load.*gapline report @commit:${before} @commit:${commit}`, 's'));
	assert.equal(await page.locator('#series-1 tbody tr').count(), 1);
	assert.equal(await page.locator('#commits tbody tr').count(), 70);
	assert.equal(await page.locator('#series-1 svg .before path').count(), 70, 'a point a commit');
	assert.match(await page.locator('#series-1 svg .ink text').first().textContent(), new RegExp(`▲ ${commit} \\+6\\.0 %`));
	assert.deepEqual(page.wrong, []);
	assert.equal(page.asked.length, 1, 'nothing but the page is asked for');
});

test('the latest commits are shown, all open, and without styles nothing offers what is there', async () => {
	const page = await openTrend();
	const shown = () => page.locator('#commits tbody tr').evaluateAll(rows => rows.filter(row => row.getClientRects().length).length);
	assert.equal(await shown(), 20);
	await page.locator('#commits summary').focus();
	await page.keyboard.press('Enter');
	assert.equal(await page.locator('#commits summary').innerText(), 'All 70 commits');
	assert.equal(await shown(), 70);
	const bare = await openTrend({ at: `${await serve()}/jenkins/trend.html` });
	assert.equal(await bare.locator('#commits tbody tr').evaluateAll(rows => rows.filter(row => row.getClientRects().length).length), 70);
	assert.equal(await bare.locator('#commits summary').isVisible(), false);
	const paper = await openTrend();
	await paper.emulateMedia({ media: 'print' });
	assert.equal(await paper.locator('#commits tbody tr').evaluateAll(rows => rows.filter(row => row.getClientRects().length).length), 70);
});

test('axe finds nothing in it', async () => {
	const axe = await readFile(require.resolve('axe-core/axe.min.js'), 'utf8');
	const text = await readFile(fileOf('trend'), 'utf8');
	assert.ok(!text.includes('<script'));
	for (const options of [{}, { colorScheme: 'dark' }, { viewport: { width: 390, height: 844 } }]) {
		const page = await openTrend({ ...options, javaScriptEnabled: true, ready: false });
		await page.evaluate(axe);
		const { violations } = await page.evaluate(() => window.axe.run({ resultTypes: ['violations'] }));
		assert.deepEqual(violations.map(v => `${v.impact} ${v.id}: ${v.nodes.slice(0, 3).map(node => node.html.slice(0, 160)).join(' | ')}`), []);
		await leave(page);
	}
});

test('nothing sticks out of a phone or of paper', async () => {
	for (const [media, width] of [['screen', 390], ['print', 703]]) {
		const page = await openTrend({ viewport: { width, height: 1000 }, javaScriptEnabled: true, ready: false });
		await page.emulateMedia({ media });
		const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
		assert.ok(wide <= 0, `${media}: ${wide} px too wide`);
		if (media === 'print') {
			const out = await page.evaluate(() => [...document.querySelectorAll('svg, table')].filter(node => node.getBoundingClientRect().right > innerWidth + 1).map(node => node.closest('section').id));
			assert.deepEqual(out, []);
		}
	}
});
