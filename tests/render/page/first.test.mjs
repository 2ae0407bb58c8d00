/* The first screen: what happened, on what it rests, why, and what next, before anybody scrolls. What holds of it in every
 * report is in every.test.mjs. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { pathToFileURL } from 'node:url';
import { card, fileOf, frames, isReady, jsonOf, leave, open } from './browser.mjs';

const PHONE = { width: 390, height: 844 };
test('work that differs is said in the headline, whole, and its colour is no approval', async () => {
	const page = await open('other'), said = await card(page);
	assert.match(said.headline, /^[\d.]+× faster, with other work: relu runs only in the baseline$/);
	const tones = await page.evaluate(() => ['--doubt', '--good'].map(name => getComputedStyle(document.documentElement).getPropertyValue(name)));
	assert.deepEqual(await page.evaluate(() => getComputedStyle(document.querySelector('#verdict')).getPropertyValue('--tone')), tones[0]);
	assert.notEqual(tones[0], tones[1]);
});

test('on a phone the verdict and its chips stand on the first screen, and nothing is wider', async () => {
	for (const report of ['pair', 'devices', 'undecided', 'slower', 'nothing']) {
		const page = await open(report, { viewport: PHONE }), said = await card(page);
		assert.ok((await page.locator('.chips').boundingBox()).y < PHONE.height, report);
		assert.ok(said.wide <= PHONE.width, `${report}: ${said.wide}`);
		await leave(page);
	}
});

test('a chip opens to its caveats, with the keyboard and without a script', async () => {
	for (const javaScriptEnabled of [true, false]) {
		const page = await open('example', { javaScriptEnabled }), json = await jsonOf('example');
		const chip = page.locator('.chip').nth(1);
		assert.ok(!(await chip.locator('li').first().isVisible()));
		await chip.locator('summary').focus();
		await page.keyboard.press('Enter');
		assert.ok(await chip.locator('li').first().isVisible());
		/* every reason of the verdict is there */
		const said = (await chip.innerText()).replace(/\s+/g, ' ');
		for (const reason of json.verdict.reasons) assert.ok(said.includes(reason.text.replace(/\s+/g, ' ')), reason.text);
	}
});

test('the reason is one that a reader can act on, and the lines add up to the change', async () => {
	for (const [report, reason] of [
		['example', /^\s*GPU waits for host code in data_load /],
		['gpus16', /^\s*Other GPUs wait for the slowest one /],
		['kernel', /^\s*GPU compute, mostly scale_by_rows /],
		['nothing', null],
	]) {
		const page = await open(report), json = await jsonOf(report), { parts, why } = await card(page);
		await leave(page);
		if (!reason) {
			assert.match(why, /are the same capture/);
			continue;
		}
		assert.match(parts[0], reason, report);
		const change = parts.reduce((sum, part) => sum + Number(/([+\u2212]?[\d.]+)(?: ± [\d.]+| \(≥ [\d.]+\))? ms$/.exec(part)[1].replace('\u2212', '-')), 0);
		const asked = json.fixed.steps.period_ms.mean - json.baseline.steps.period_ms.mean;
		assert.ok(Math.abs(change - asked) < 0.02 * Math.abs(asked) + 0.02, `${report}: ${change}, ${asked}`);
	}
});

test('kernels are drawn before and after where one changed, and not where the table says that none did', async () => {
	for (const [report, drawn] of [['example', 0], ['nothing', 0], ['kernel', 1]]) {
		const page = await open(report);
		assert.equal(await page.locator('#kernels [aria-label="Kernels before and after"] svg').count(), drawn, report);
		await leave(page);
	}
});

test('the section bar is whole on every desk', async () => {
	for (const report of ['pair', 'devices', 'gpus16']) {
		const page = await open(report);
		for (const width of [1024, 1200, 1280, 1920]) {
			await page.setViewportSize({ width, height: 900 });
			await frames(page);
			const cut = await page.evaluate(() => [...document.querySelectorAll('nav a')].filter(link => link.getBoundingClientRect().right > document.querySelector('nav ul').getBoundingClientRect().right).map(link => link.innerText));
			assert.deepEqual(cut, [], `${report}, ${width}`);
			/* one line of it, so that it takes no room from what it leads to */
			if (width >= 1200) assert.ok((await page.locator('nav').boundingBox()).height < 48, `${report}, ${width}`);
		}
		await leave(page);
	}
});

test('the section bar has nine tabs, and each leads to its section', async () => {
	const page = await open('gpus16'), tabs = page.locator('nav a');
	assert.equal(await tabs.count(), 9);
	assert.deepEqual(await tabs.evaluateAll(all => all.map(link => document.querySelector(link.hash)?.tagName)), Array(9).fill('SECTION'));
	assert.deepEqual(await page.evaluate(() => [...document.querySelectorAll('main > section')].map(section => section.id)), await tabs.evaluateAll(all => all.map(link => link.hash.slice(1))));
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

/* From when to when the document below the verdict was put off, and what its first heading was like when it was read. By
 * the page's own clock: who asks later, on a busy machine, is told the same. */
function noteEarly() {
	new MutationObserver(() => {
		const early = document.documentElement.className === 'early', heading = document.querySelector('#findings h2');
		if (heading) window.heading ??= [early, heading.checkVisibility()];
		if (early) window.early ??= performance.now();
		else if (window.early) window.whole ??= performance.now();
	}).observe(document, { subtree: true, childList: true, attributeFilter: ['class'] });
}

test('the first paint is of the verdict, and then nothing is put off', async () => {
	for (const [fragment, expected] of [['', true], ['#kernels', false]]) {
		const page = await open('example', { at: 'about:blank', ready: false });
		await page.addInitScript(noteEarly);
		await page.goto(pathToFileURL(fileOf('example')).href + fragment);
		await isReady(page);
		await page.waitForFunction(() => performance.getEntriesByType('paint').length);
		const { heading, early, whole, paint } = await page.evaluate(() => ({ heading: window.heading, early: window.early, whole: window.whole, paint: performance.getEntriesByType('paint')[0].startTime }));
		const waited = whole - early >= 300; /* so long it waits for a paint, and the machine may be slower */
		assert.equal(whole > paint || waited, expected, `${fragment}: ${early} to ${whole}, ${paint}`);
		assert.deepEqual(heading, [expected, !expected], fragment);
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
