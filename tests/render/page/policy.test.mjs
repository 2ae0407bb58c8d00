/* Everywhere a report is opened: without scripts, under servers' policies, and with names that somebody chose to do harm. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import test from 'node:test';
import { fileOf, frames, isReady, jsonOf, leave, open, serve } from './browser.mjs';

/* What must be there whatever is blocked, from top to bottom. */
async function isReadable(page, name) {
	const json = await jsonOf(name);
	const text = await page.locator('body').innerText();
	assert.match(text, { faster: /× faster/, slower: /×, slower/, unchanged: /Unchanged: /, inconclusive: /Inconclusive: / }[json.verdict.result]);
	for (const finding of json.findings.slice(0, 3)) assert.ok(text.includes(finding.title), finding.title);
	const tops = await page.locator('h2').evaluateAll(nodes => nodes.map(node => node.getBoundingClientRect().top));
	const ranks = Boolean(json.baseline.ranks || json.fixed.ranks); /* else that section is not there */
	assert.equal(tops.length, 8 + ranks);
	assert.deepEqual(tops, [...tops].sort((a, b) => a - b), 'in order');
	for (const id of ['phases', 'idle', 'kernels']) {
		const table = page.locator(`#${id} table`).first();
		if (await table.count()) assert.ok((await table.boundingBox()).height > 60, id);
	}
}

test('without scripts all pictures are there', async () => {
	for (const name of ['pair', 'example']) {
		const page = await open(name, { javaScriptEnabled: false });
		await isReadable(page, name);
		for (const id of ['verdict', 'timeline', 'steps']) {
			const svg = page.locator(`#${id} svg[role=img]`).first(), box = await svg.boundingBox();
			assert.ok(box.width > 300 && box.height > 50, id);
		}
		assert.ok((await page.locator('#picture text').allTextContents()).includes('host code'));
		assert.equal(await page.getByRole('button').count(), 0, 'nothing that would do nothing');
	}
});

test('our own policy is kept, and holds', async () => {
	const page = await open('pair', { at: `${await serve()}/none/pair.html` });
	await isReady(page);
	assert.deepEqual(page.wrong, []);
	const policy = await page.locator('meta[http-equiv]').getAttribute('content');
	assert.match(policy, /^default-src 'none'; style-src 'sha256-[\w+/=]{44}'; script-src 'sha256-[\w+/=]{44}' 'sha256-[\w+/=]{44}'; base-uri 'none'; form-action 'none'$/);
	assert.equal(page.asked.length, 1);
	const blocked = await page.evaluate(async () => {
		const violations = [];
		addEventListener('securitypolicyviolation', event => violations.push(event.effectiveDirective));
		const script = document.createElement('script');
		script.textContent = 'window.broken = 1';
		const picture = document.createElement('img');
		picture.src = '/none/other.png';
		const styled = document.createElement('p');
		styled.setAttribute('style', 'color: red');
		document.body.append(script, picture, styled);
		await fetch('/none/pair.html').catch(() => {});
		await new Promise(done => setTimeout(done, 200));
		return [...violations, window.broken];
	});
	assert.deepEqual(blocked.sort(), ['connect-src', 'img-src', 'script-src-elem', 'style-src-attr', undefined]);
});

test("under Jenkins' policy, which blocks inline styles and scripts, it can be read", async () => {
	for (const name of ['pair', 'example', 'devices', 'gpus16', 'nothing']) {
		const page = await open(name, { at: `${await serve()}/jenkins/${name}.html` });
		const expected = /Applying inline style|Blocked script execution/;
		assert.deepEqual(page.wrong.filter(text => !expected.test(text)), []);
		assert.equal(page.asked.length, 1);
		await isReadable(page, name);
		const style = await page.locator('h1').evaluate(node => getComputedStyle(node).fontFamily);
		assert.match(style, /Times|serif/i, 'our style is not there');
		/* the gaps keep their colour, the pictures their size, and nothing is wider than the window */
		const [cause, colour] = name === 'gpus16' ? ['dispatch', '#0072b2'] : ['host-code', '#d55e00'];
		assert.equal(await page.locator(`#picture g.${cause}`).first().getAttribute('fill'), colour);
		const box = await page.locator('#picture svg').boundingBox();
		assert.ok(box.width >= 1000 && box.height > 200);
		assert.ok(box.x + box.width <= 1280, 'no scrolling sideways for the timeline');
		/* the sum of rows that are folded away elsewhere is not beside them, nor what opens them */
		const folded = await page.locator('.rows:has(> .all) tr.more:not(.beyond), .all').evaluateAll(rows => rows.map(row => row.getClientRects().length));
		assert.deepEqual(new Set(folded), new Set(folded.length ? [0] : []), name);
		assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 1280, `${name}: nor for anything else`);
		await leave(page);
	}
});

test('a server that allows scripts by source, not by hash, leaves the static page', async () => {
	const page = await open('pair', { at: `${await serve()}/scripts/pair.html` });
	assert.equal(page.asked.length, 1);
	await isReadable(page, 'pair');
});

test('hostile names are text', async () => {
	for (const name of ['hostile', 'names', 'large']) {
		for (const javaScriptEnabled of [true, false]) {
			const page = await open(name, { javaScriptEnabled });
			if (javaScriptEnabled) {
				assert.equal(await page.evaluate(() => window.broken), undefined, name);
				/* light up, whole names, boxes beside the pointer: names go through the script too */
				await page.evaluate(() => document.querySelectorAll('#kernels button.light').forEach(button => button.click()));
				const box = await page.locator('#stage').boundingBox();
				for (let y = box.y + 30; y < box.y + box.height; y += 12) await page.mouse.move(box.x + 400, y);
				await frames(page);
				assert.equal(await page.evaluate(() => window.broken), undefined, name);
			}
			assert.equal(await page.locator('img, iframe, object, embed, base').count(), 0);
			assert.equal(await page.locator('script').count(), 3 + (await page.locator('#evidence').count()));
			assert.deepEqual(page.wrong, [], name);
			const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth).catch(() => 0);
			assert.ok(wide <= 0, `${name} scrolls sideways by ${wide}`);
			await leave(page);
		}
	}
	const html = await readFile(fileOf('names'), 'utf8');
	assert.ok(!html.includes('\u0000') && !html.includes('\u001b'), 'no control characters');
	assert.ok(!/\u202e/.test(html.replace(/<script[^]*?<\/script>/g, '')) || (await isolates()), 'text that runs right to left stays in its cell');
});

/* A name with a right-to-left override does not turn the numbers beside it around. */
async function isolates() {
	const page = await open('names');
	return page.evaluate(() => {
		for (const cell of document.querySelectorAll('tbody th'))
			if (/\u202e/.test(cell.textContent)) {
				const row = [...cell.parentNode.querySelectorAll('td.n')];
				const lefts = row.map(node => node.getBoundingClientRect().left);
				if (lefts.some((x, i) => i && x < lefts[i - 1])) return false;
			}
		return true;
	});
}
