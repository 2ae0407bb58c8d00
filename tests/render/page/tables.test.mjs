/* Tables under the hands of a reader. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { jsonOf, KINDS, leave, open } from './browser.mjs';

const texts = locator => locator.evaluateAll(nodes => nodes.map(node => node.textContent.trim()));
const number = text => Number(text.replace('−', '-').replace('+', '').replace(/^<.*|^~.*/, '0'));

/* The column's cells, without the row that stands for what is left out. */
const column = (page, section, n) => texts(page.locator(`${section} table:has(th.bars) tbody tr:not(.more) > :nth-child(${n})`));

test('a header sorts by its numbers, again the other way round, and says so', async () => {
	const page = await open('pair'), section = '#kernels';
	const order = await column(page, section, 1);
	const header = name => page.locator(`${section} thead th:not(.bars)`, { hasText: name });
	await header('Fixed').getByRole('button').click();
	const falling = (await column(page, section, 4)).map(number);
	assert.deepEqual(falling, [...falling].sort((a, b) => b - a));
	assert.ok(falling[0] > falling.at(-1));
	assert.equal(await header('Fixed').getAttribute('aria-sort'), 'descending');
	await header('Fixed').getByRole('button').press('Enter');
	const rising = (await column(page, section, 4)).map(number);
	assert.deepEqual(rising, [...rising].sort((a, b) => a - b));
	assert.equal(await header('Fixed').getAttribute('aria-sort'), 'ascending');
	await header('Kernel').getByRole('button').click();
	assert.equal(await header('Fixed').getAttribute('aria-sort'), null);
	const names = await column(page, section, 1);
	assert.notDeepEqual(names, order);
	assert.deepEqual([...names].sort(), [...order].sort(), 'the same rows');
	assert.equal(await page.locator(`${section} tbody tr.rest`).count(), 16, 'as many as before are not shown at first');
});

test('changes sort by sign, bytes by size', async () => {
	const page = await open('example');
	await page.locator('#idle thead').getByRole('button', { name: 'Change' }).click();
	await page.locator('#idle thead').getByRole('button', { name: 'Change' }).click();
	const changes = (await column(page, '#idle', 6)).map(number);
	assert.deepEqual(changes, [...changes].sort((a, b) => a - b));
	await page.locator('#rest > details > summary').click();
	await page.locator('#copies thead').getByRole('button', { name: 'Bytes' }).click();
	const bytes = await column(page, '#copies', 7), unit = { B: 1, kB: 1e3, MB: 1e6, GB: 1e9 };
	const size = text => Math.max(...[...text.matchAll(/([\d.]+) (\w*B)/g)].map(([, n, name]) => n * unit[name]));
	assert.deepEqual(bytes.map(size), bytes.map(size).sort((a, b) => b - a));
});

test('what looks alike sorts by the numbers behind it', async () => {
	const page = await open('example'), json = await jsonOf('example');
	const side = key => new Map(json[key].kernels.map(kernel => [kernel.name, kernel.ms_per_step]));
	const times = { Baseline: side('baseline'), Fixed: side('fixed') }, longest = [...new Set([...times.Baseline.keys(), ...times.Fixed.keys()])];
	for (const [name, of] of Object.entries(times)) {
		await page.locator('#kernels thead').getByRole('button', { name, exact: true }).click();
		const rows = await page.locator('#kernels tbody tr:not(.more)').evaluateAll(nodes => nodes.map(row => ({ name: row.querySelector('[data-whole]')?.dataset.whole ?? row.cells[0].textContent, shown: [...row.querySelectorAll('td.n')].map(cell => cell.textContent) })));
		const sorted = rows.map(row => of.get(row.name) ?? 0);
		assert.equal(rows.length, longest.length);
		assert.deepEqual(sorted, [...sorted].sort((a, b) => b - a), name);
		const shown = rows.map(row => row.shown[name === 'Fixed' ? 1 : 0]);
		assert.ok(shown.some((text, i) => i && text === shown[i - 1] && sorted[i] < sorted[i - 1]), `${name}: two that look alike`);
	}
	/* no cell of a column that sorts is without its number */
	assert.deepEqual(await page.evaluate(() => [...document.querySelectorAll('th[scope="col"].n > button.sort')].flatMap(button => {
		const column = button.parentNode.cellIndex, rows = [...button.closest('table').tBodies[0].rows].filter(row => !row.classList.contains('more'));
		return rows.filter(row => Number.isNaN(Number(row.cells[column].dataset.n ?? NaN))).map(row => `${button.textContent}: ${row.textContent}`);
	})), []);
});

test('searching keeps the rows with all the words, of whole names too', async () => {
	const page = await open('pair'), json = await jsonOf('pair');
	const field = page.getByRole('searchbox', { name: /Search all .* kernels/ });
	const rows = () => page.locator('#kernels tbody tr:visible').count();
	const all = await rows();
	const hidden = json.baseline.kernels[0].name.slice(-30, -10); /* beyond where the table shortens it */
	await field.fill(hidden);
	const found = await rows();
	assert.ok(found > 0 && found < all, `${found} of ${all} rows`);
	await field.fill('no such kernel');
	assert.equal(await rows(), 0);
	assert.equal(await page.locator('#kernels').getByRole('status').textContent(), 'nothing matches');
	await field.fill('');
	assert.equal(await rows(), all);
	await field.fill('fused_kernel_39');
	assert.equal(await rows(), 1, 'a row that is not shown at first');
});

test('every row is reached by keyboard alone, with a script and without, and by the search', async () => {
	for (const options of [{}, { javaScriptEnabled: false }]) {
		const page = await open('pair', options), visible = () => page.locator('#kernels tbody tr:visible').count();
		const json = await jsonOf('pair'), names = new Set([...json.baseline.kernels, ...json.fixed.kernels].map(k => k.name));
		assert.equal(await visible(), 25, 'with the sum of the others');
		await page.locator('#kernels summary').focus();
		await page.keyboard.press('Enter');
		assert.equal(await visible(), names.size);
		await page.keyboard.press('Enter');
		assert.equal(await visible(), 25);
	}
});

test('differences come first by one click, and go by another', async () => {
	const page = await open('example'), size = async () => (await column(page, '#kernels', 5)).map(t => Math.abs(number(t)));
	const before = await column(page, '#kernels', 1);
	const button = page.locator('#kernels').getByRole('button', { name: 'Differences first' });
	await button.click();
	assert.deepEqual(await size(), (await size()).sort((a, b) => b - a));
	await button.click();
	assert.deepEqual(await column(page, '#kernels', 1), before);
});

test('a long name can be seen whole and copied; a table is copied as Markdown', async () => {
	const page = await open('pair', { permissions: [] }), json = await jsonOf('pair');
	await page.context().grantPermissions(['clipboard-read', 'clipboard-write']).catch(() => {});
	const clipboard = () => page.evaluate(() => navigator.clipboard.readText());
	const whole = json.baseline.kernels.find(k => k.name.length > 70).name;
	const row = page.locator('#kernels tbody tr', { has: page.getByRole('button', { name: 'whole name' }) }).first();
	assert.match(await row.locator('th').innerText(), /…/);
	await row.hover();
	await row.getByRole('button', { name: 'whole name' }).click();
	assert.ok((await row.locator('th').innerText()).includes(whole));
	await row.getByRole('button', { name: 'whole name' }).click();
	assert.ok(!(await row.locator('th').innerText()).includes(whole));
	await row.getByRole('button', { name: 'copy', exact: true }).click();
	assert.equal(await clipboard(), whole);
	await page.locator('#phases').getByRole('button', { name: 'Copy table' }).first().click();
	const [head, rule, ...lines] = (await clipboard()).split('\n');
	assert.equal(head, '| Phase | Place | Cost, baseline | Cost, fixed | Change | GPU idle for it | GPU work | Host |');
	assert.equal(rule, '| --- | --- | --: | --: | --: | --: | --: | --: |');
	assert.equal(lines.length, await page.locator('#phases table').first().locator('tbody tr:visible').count());
	assert.match(lines[0], /^\| data\\_load \| 1 → \d+ \| 31\.04 \| 0(\.\d+)? \| −31\.0\d \|/);
});

test('bars are as long as their numbers', async () => {
	const page = await open('pair');
	for (const section of ['#phases', '#kernels']) {
		const rows = await page.locator(`${section} > .rows tbody tr:not(.more):not(.rest), ${section} > div > .rows:has(caption:text('Phases')) tbody tr:not(.more):not(.rest)`).evaluateAll(nodes =>
			nodes.map(node => ({
				bars: [...node.querySelectorAll('td svg g')].map(g => Number(g.querySelector('rect')?.getAttribute('width') ?? 0)),
				cells: [...node.querySelectorAll('td.n')].slice(0, 2).map(cell => cell.textContent),
			})),
		);
		const most = Math.max(...rows.flatMap(row => row.cells.map(number)));
		for (const { bars, cells } of rows)
			cells.forEach((cell, side) => {
				const wanted = (number(cell) / most) * 190;
				assert.ok(Math.abs((bars[side] ?? 0) - wanted) < 1.5, `${section}: ${cell} is ${bars[side]} wide, not ${wanted}`);
			});
	}
});

test('what the profiler added to the start-up is neither good nor bad', async () => {
	const page = await open('slower'), json = await jsonOf('slower');
	const of = side => json[side].startup.causes.find(part => part.cause === 'profiler')?.ms ?? 0;
	const row = page.locator('#startup tbody tr', { hasText: 'profiler' }).first();
	assert.equal(await row.locator('.change').getAttribute('class'), 'n change', `${of('baseline')} and ${of('fixed')} ms`);
});

test('on a phone the change of every row is in sight, and both of the numbers that it is between', async () => {
	for (const report of KINDS.filter(name => name !== 'profile')) {
		const page = await open(report, { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true });
		const wrong = await page.evaluate(() => [...document.querySelectorAll('td.change')].filter(cell => cell.checkVisibility({ contentVisibilityAuto: true }) && cell.getBoundingClientRect().width).flatMap(cell => {
			const left = cell.getBoundingClientRect().left, text = document.createRange(), row = cell.closest('tr').innerText;
			text.selectNodeContents(cell.previousElementSibling);
			return [
				cell.getBoundingClientRect().right > innerWidth && `its change is out of sight: ${row}`,
				text.getBoundingClientRect().right > left + 0.5 && `${(text.getBoundingClientRect().right - left).toFixed(1)} pixels are covered: ${row}`,
			].filter(Boolean);
		}));
		assert.deepEqual(wrong, [], report);
		assert.equal(await page.locator('#kernels svg:visible:has(.bad-line, .good-line)').count(), 0, 'a chart that has no room');
		await leave(page);
	}
});
