/* What holds of every report. Each is opened once: that takes a processor longer than all that is asked of it. */
import assert from 'node:assert/strict';
import { stat } from 'node:fs/promises';
import test from 'node:test';
import { card, fileOf, frames, jsonOf, KINDS, leave, open, RECORDED } from './browser.mjs';

const DESK = { width: 1440, height: 900 };
const PAIRS = ['pair', 'devices', 'no-steps', 'inconclusive', 'undecided', 'self', 'stopwatch', 'example', 'slower', 'nothing', 'gpus16', 'kernel', 'wide', 'other', 'gpus32', 'span', ...RECORDED];
const EVERY = [...PAIRS, 'profile', 'hostile', 'large', 'names'];
const LARGEST = 1.5e6; /* bytes of a page */
/* Numbers and units of pictures are none. */
const words = text => text.split(/\s+/).filter(word => /\p{L}/u.test(word)).length;

/* Without scrolling, in few words and fewer doubts. */
function fitsDesk(report, said) {
	assert.ok(said.bottom <= DESK.height, `${report}: ends at ${said.bottom}`);
	assert.ok(words(said.all) < 150, `${report}: ${words(said.all)} words: ${said.all}`);
	assert.ok(words(said.doubts) < 40, `${report}: ${said.doubts}`);
}

/* What happened, on what it rests, why and what next stand on the first screen of a desk. */
async function saysWhatHappened(page, report, json) {
	const said = await card(page), { result, speedup, ci95 } = json.verdict;
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
	if (ci95) assert.match(said.interval, /^Speedup [\d.]+ to [\d.]+× \(95 % CI\)/, report);
	assert.match(said.step, /^(A|Baseline: a) (step|run) is .*\.$/, report);
	assert.match(said.next, /^Next: .*\.$/, report);
	assert.equal(said.parts.length, json.verdict.why.parts.length ? json.verdict.why.parts.length + 1 : 0, report);
	/* a dot per run that decides */
	const runs = json.verdict.measured === 'stopwatch' ? side => side.steps.stopwatch_runs : side => side.runs.length;
	assert.equal(await page.locator('figure circle').count(), speedup === null ? 0 : runs(json.baseline) + runs(json.fixed), report);
}

/* No word of a bar is cut off by the end of its piece, on any desk. */
async function cutsNoWord(page, report) {
	for (const width of [1440, 1920, 1250, 800, 1280]) {
		await page.setViewportSize({ width, height: 900 });
		await frames(page);
		const cut = await page.evaluate(() => [...document.querySelectorAll('.why svg svg text')].filter(text => text.checkVisibility() && text.getBoundingClientRect().right > text.ownerSVGElement.getBoundingClientRect().right + 1).map(text => text.textContent));
		assert.deepEqual(cut, [], `${report}, ${width}`);
	}
}

/* Rows below one percent of a step are folded; the rows of idle time that are. */
async function foldsSmallRows(page, report, json) {
	const step = Math.max(...['baseline', 'fixed', 'profile'].map(side => json[side]?.steps).filter(Boolean).map(steps => (steps.period_ms ?? steps.span_ms).mean)) * 1e6;
	const wrong = await page.evaluate(least => ['phases', 'kernels', 'api'].flatMap(id => [...document.querySelectorAll(`#${id} .rows tbody`)].flatMap(body => {
		const rows = [...body.rows].filter(row => row.querySelector('[data-n]') && !row.classList.contains('more') && row.checkVisibility());
		const small = rows.filter(row => Math.max(...[...row.querySelectorAll('td.n[data-n]')].slice(0, 2).map(cell => Number(cell.dataset.n))) < least);
		/* the first stays, and so does one that would only stand for itself */
		return small.slice(1).map(row => `${id}: ${row.innerText}`);
	})), 0.01 * step);
	assert.deepEqual(wrong, [], report);
	return page.locator('#idle tbody tr.rest').count();
}

/* It asks for nothing but itself, and nothing goes wrong in it, under a reader's hands either. */
async function asksForNothing(page, report) {
	await page.locator('#stage').focus();
	await page.keyboard.press('n');
	await page.evaluate(() => document.querySelectorAll('button.tool[aria-expanded]').forEach(button => button.click()));
	await frames(page);
	assert.deepEqual(page.wrong, [], report);
	assert.equal(page.asked.length, 1, report);
	assert.ok((await stat(fileOf(report))).size <= LARGEST, report);
	assert.ok(await page.locator('#stage canvas').isVisible());
}

test('every report says what happened on the first screen of a desk, cuts no word off, folds small rows and asks for nothing', async t => {
	let folded = 0;
	for (const report of EVERY)
		await t.test(report, async () => {
			const page = await open(report, { viewport: DESK }), json = await jsonOf(report);
			if (PAIRS.includes(report)) await saysWhatHappened(page, report, json);
			if (report === 'profile') fitsDesk(report, await card(page));
			if (KINDS.includes(report)) {
				await cutsNoWord(page, report);
				folded += await foldsSmallRows(page, report, json);
			}
			await asksForNothing(page, report);
			await leave(page);
		});
	assert.ok(folded > 10);
	assert.ok((await stat(fileOf('traced-large'))).size <= LARGEST);
});
