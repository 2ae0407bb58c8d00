/* The first screen: five answers, before anybody scrolls. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import test from 'node:test';
import { pathToFileURL } from 'node:url';
import { fileOf, isReady, jsonOf, open } from './browser.mjs';

const SCREENS = { desk: { width: 1280, height: 900 }, phone: { width: 390, height: 844 } };

/* What stands on the screen: texts by question, of what is wholly visible. */
const answers = (page, height) =>
	page.evaluate(bottom => {
		const found = {};
		const add = (key, node) => {
			const box = node.getBoundingClientRect();
			if (box.height > 0 && box.bottom <= bottom) found[key] = node.innerText.trim();
		};
		add('What happened?', document.querySelector('.result'));
		for (const term of document.querySelectorAll('.answers dt')) add(term.innerText, term.nextElementSibling);
		return found;
	}, height);

for (const [name, viewport] of Object.entries(SCREENS))
	test(`five answers stand on the first screen of a ${name}`, async () => {
		for (const report of ['pair', 'devices', 'no-steps', 'inconclusive', 'undecided', 'self', 'stopwatch', 'example', 'slower', 'nothing', 'gpus16', 'kernel']) {
			const page = await open(report, { viewport }), json = await jsonOf(report);
			const said = await answers(page, viewport.height);
			const result = json.verdict.result;
			assert.match(said['What happened?'] ?? '', new RegExp(`^${result}`, 'i'), report);
			const interval = json.verdict.speedup === null ? /hold the same capture/ : json.verdict.ci95 ? /95 % interval [\d.]+ to [\d.]+×/ : /Too little data/;
			assert.match(said['How sure?'] ?? '', interval, report);
			assert.match(said['Why?'] ?? '', /\w+ .*\.$/, report);
			const work = { same: /^yes/, same_job: /^the same job/, different: /^no/, unknown: /^cannot be told/ }[json.verdict.same_work];
			assert.match(said['Same work?'] ?? '', work, report);
			assert.match(said['What next?'] ?? '', /\w+ .*\.$/, report);
			assert.deepEqual(page.wrong, [], report);
			if (report === 'undecided') assert.ok(result === 'inconclusive' && json.verdict.ci95, 'has an interval, and decides nothing');
			/* a fact that could turn the result round is not folded away */
			if (json.verdict.one_run && json.verdict.speedup !== null) assert.match(said['How sure?'], /One run a side|one run of one side/i, report);
		}
	});

test('the reason is one that a reader can act on', async () => {
	for (const [report, reason] of [
		['example', /^The GPU no longer waits for host code in data_load: /],
		['gpus16', /^The other GPUs no longer wait for the slowest one: /],
		['kernel', /^Less GPU compute: .* a step, mostly scale_by_rows \([\d.]+ → 0\.\d+ ms\)\.$/], /* what another kernel takes in its place is not gone */
		['nothing', /^There is no change to explain\.$/],
	]) {
		const page = await open(report), json = await jsonOf(report);
		assert.match((await answers(page, 900))['Why?'], reason, report);
		if (report === 'nothing') assert.equal(await page.locator('.rates').count(), 0, 'no rates of nothing');
		assert.equal(json.verdict.speedup === null, report === 'nothing');
	}
});

test('the section bar is whole on every desk', async () => {
	for (const report of ['pair', 'devices', 'gpus16'])
		for (const width of [1024, 1200, 1280, 1920]) {
			const page = await open(report, { viewport: { width, height: 900 } });
			const cut = await page.evaluate(() => [...document.querySelectorAll('nav a')].filter(link => link.getBoundingClientRect().right > document.querySelector('nav ul').getBoundingClientRect().right).map(link => link.innerText));
			assert.deepEqual(cut, [], `${report}, ${width}`);
			/* one line of it, so that it takes no room from what it leads to */
			if (width >= 1200) assert.ok((await page.locator('nav').boundingBox()).height < 48, `${report}, ${width}`);
			await page.context().close();
		}
});

test('the section bar of a report with every section there is stays in one line', async () => {
	const template = await readFile(new URL('../../../templates/report.html', import.meta.url), 'utf8');
	const links = [...template.matchAll(/<li(?! data-sides="1")[^>]*>(<a href="#\w+"[^>]*>[^<]+<\/a>)<\/li>/g)].map(([, link]) => link);
	assert.ok(links.length >= 18);
	for (const width of [1200, 1280, 1920]) {
		const page = await open('pair', { viewport: { width, height: 900 } });
		await page.locator('nav ul').evaluate((list, all) => (list.innerHTML = all.map(link => `<li>${link}</li>`).join('')), links);
		assert.ok((await page.locator('nav').boundingBox()).height < 48, `${width}`);
	}
});

test('the keys are listed on ?, and the table of contents follows', async () => {
	const page = await open('pair');
	await page.keyboard.press('?');
	assert.match(await page.getByRole('dialog', { name: 'Keys' }).innerText(), /the next long gap/);
	await page.keyboard.press('Escape');
	assert.equal(await page.getByRole('dialog').count(), 0);
	await page.locator('#kernels').scrollIntoViewIfNeeded();
	await page.evaluate(() => document.getElementById('kernels').scrollIntoView());
	await page.waitForTimeout(100);
	assert.equal(await page.locator('nav a[aria-current]').innerText(), 'Kernels');
	assert.deepEqual(page.wrong, []);
});

/* What the document is like when its first paint is told of: kept in window.painted. */
function notePaint() {
	new PerformanceObserver(() => {
		window.painted ??= [document.documentElement.className, document.querySelector('#timeline h2')?.checkVisibility()];
	}).observe({ type: 'paint', buffered: true });
}

test('the first paint is of the verdict, and then nothing is put off', async () => {
	for (const [fragment, expected] of [['', 'early'], ['#kernels', '']]) {
		const page = await open('example', { at: 'about:blank', ready: false });
		await page.addInitScript(notePaint);
		await page.goto(pathToFileURL(fileOf('example')).href + fragment);
		await isReady(page);
		const [name, heading] = await page.evaluate(() => window.painted);
		assert.equal(name, expected, fragment);
		if (heading !== undefined) assert.notEqual(heading, expected === 'early', fragment);
		assert.equal(await page.evaluate(() => document.documentElement.className), '');
		assert.ok((await page.locator('#timeline canvas').boundingBox()).height > 100);
		if (fragment) assert.equal(await page.locator('nav a[aria-current]').innerText(), 'Kernels');
	}
});

test('what the first paint puts off comes back though the script fails', async () => {
	const page = await open('example', { at: 'about:blank', ready: false });
	await page.addInitScript(() => delete window.PerformanceObserver);
	await page.goto(pathToFileURL(fileOf('example')).href);
	await page.waitForFunction(() => !document.documentElement.className);
	assert.equal(page.wrong.length, 1);
	assert.ok((await page.locator('#picture svg').boundingBox()).height > 100);
	await page.locator('#kernels h2').scrollIntoViewIfNeeded();
	assert.ok(await page.locator('#kernels table').first().isVisible());
});
