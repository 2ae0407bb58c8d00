/* The first screen: what happened, on what it rests, why, and what next, before anybody scrolls. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { pathToFileURL } from 'node:url';
import { stat } from 'node:fs/promises';
import { fileOf, frames, isReady, jsonOf, KINDS, leave, open, RECORDED } from './browser.mjs';

const DESK = { width: 1440, height: 900 }, PHONE = { width: 390, height: 844 };
const PAIRS = ['pair', 'devices', 'no-steps', 'inconclusive', 'undecided', 'self', 'stopwatch', 'example', 'slower', 'nothing', 'gpus16', 'kernel', 'wide', 'other', 'gpus32', 'span', ...RECORDED];
const LARGEST = 1.5e6; /* bytes of a page */
/* Numbers and units of pictures are none. */
const words = text => text.split(/\s+/).filter(word => /\p{L}/u.test(word)).length;

const card = page =>
	page.evaluate(() => {
		const text = selector => [...document.querySelectorAll(`#verdict ${selector}`)].map(node => node.innerText).join(' ');
		return {
			all: document.querySelector('header').innerText + document.querySelector('#verdict').innerText,
			doubts: text('.chip:is(.unknown, .failed) > summary') + text('.gate.inconclusive'),
			headline: text('.result'),
			times: text('.sentence'),
			interval: text('figcaption'),
			chips: [...document.querySelectorAll('.chip > summary')].map(node => node.innerText),
			step: text('.steps'),
			parts: [...document.querySelectorAll('.parts li')].map(node => node.innerText),
			why: text('.why'),
			next: text('.next'),
			bottom: document.querySelector('#verdict').getBoundingClientRect().bottom,
			wide: document.documentElement.scrollWidth,
		};
	});

/* Without scrolling, in few words and fewer doubts. */
function fitsDesk(report, said) {
	assert.ok(said.bottom <= DESK.height, `${report}: ends at ${said.bottom}`);
	assert.ok(words(said.all) < 150, `${report}: ${words(said.all)} words: ${said.all}`);
	assert.ok(words(said.doubts) < 40, `${report}: ${said.doubts}`);
}

test('what happened, on what it rests, why and what next stand on the first screen of a desk', async () => {
	for (const report of PAIRS) {
		const page = await open(report, { viewport: DESK }), json = await jsonOf(report), said = await card(page);
		const { result, speedup, ci95 } = json.verdict;
		fitsDesk(report, said);
		assert.match(said.headline, { faster: /× faster/, slower: /×, slower/, unchanged: /^Unchanged: /, inconclusive: /^Inconclusive: / }[result], report);
		const numbers = said.headline.match(/[\d.]+(?=×)/g) ?? [];
		const wide = ci95 && (ci95[1] > 1.3 * ci95[0] || result === 'inconclusive');
		assert.equal(numbers.length, speedup === null ? 0 : wide ? 2 : 1, `${report}: ${said.headline}`);
		assert.equal(/with (other work|another result): /.test(said.headline), json.verdict.same_work === 'different' && json.verdict.differences.length > 0, report);
		assert.ok(said.chips.length >= 2 && said.chips.length <= 3, report);
		assert.match(said.chips[0], { same: /^Same work$/, same_job: /different kernels|other kernel times/, different: /^Different work/, unknown: /unknown/ }[json.verdict.same_work], report);
		assert.match(said.chips[1], json.verdict.measured === 'stopwatch' ? /timed run/ : /profiled run/, report);
		assert.equal(Boolean(said.interval), speedup !== null, report);
		if (ci95) assert.match(said.interval, /^Speedup [\d.]+× to [\d.]+× \(95 % CI\)/, report);
		assert.match(said.step, /^(A|Baseline: a) (step|run) is .*\.$/, report);
		assert.match(said.next, /^Next: .*\.$/, report);
		assert.equal(said.parts.length, json.verdict.why.parts.length ? json.verdict.why.parts.length + 1 : 0, report);
		/* a dot per run that decides */
		const runs = json.verdict.measured === 'stopwatch' ? side => side.steps.stopwatch_runs : side => side.runs.length;
		assert.equal(await page.locator('figure circle').count(), speedup === null ? 0 : runs(json.baseline) + runs(json.fixed), report);
		assert.deepEqual(page.wrong, [], report);
		await leave(page);
	}
});

test('a page has at most 1.5 MB, and the first screen of one profile fits a desk, too', async () => {
	for (const report of new Set([...KINDS, 'large', 'traced-large', 'names', 'hostile', ...RECORDED])) {
		const { size } = await stat(fileOf(report));
		assert.ok(size <= LARGEST, `${report}: ${size} bytes`);
	}
	fitsDesk('profile', await card(await open('profile', { viewport: DESK })));
});

test('work that differs is said in the headline, whole, and its colour is no approval', async () => {
	const page = await open('other'), said = await card(page);
	assert.match(said.headline, /^[\d.]+× faster, with other work: relu runs only in the baseline$/);
	const tones = await page.evaluate(() => ['--doubt', '--good'].map(name => getComputedStyle(document.documentElement).getPropertyValue(name)));
	assert.deepEqual(await page.evaluate(() => getComputedStyle(document.querySelector('#verdict')).getPropertyValue('--tone')), tones[0]);
	assert.notEqual(tones[0], tones[1]);
});

test('no word of a bar is cut off by the end of its piece, on any desk', async () => {
	for (const report of KINDS) {
		const page = await open(report);
		for (const width of [1250, 1280, 1440, 1920, 800]) {
			await page.setViewportSize({ width, height: 900 });
			await frames(page);
			const cut = await page.evaluate(() => [...document.querySelectorAll('.why svg svg text')].filter(text => text.checkVisibility() && text.getBoundingClientRect().right > text.ownerSVGElement.getBoundingClientRect().right + 1).map(text => text.textContent));
			assert.deepEqual(cut, [], `${report}, ${width}`);
		}
		await leave(page);
	}
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
