/* What axe says of the reports; in CI (GAPLINE_ALL is not set) of some. It takes as long as all the rest of access.test.mjs: a file of its own runs beside that. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import test from 'node:test';
import { leave, open, REPORTS, some } from './browser.mjs';

const require = createRequire(import.meta.url);

const WIDER = [
	['example', { colorScheme: 'dark' }],
	['gpus16', { colorScheme: 'dark' }],
	['stopwatch', { colorScheme: 'dark', viewport: { width: 390, height: 844 } }],
];

test('axe finds nothing', async () => {
	const axe = await readFile(require.resolve('axe-core/axe.min.js'), 'utf8');
	for (const [name, options] of [
		...some(REPORTS.filter(name => name !== 'trend')).map(name => [name, {}]),
		['pair', { colorScheme: 'dark' }],
		['devices', { viewport: { width: 390, height: 844 } }],
		['inconclusive', { colorScheme: 'dark', viewport: { width: 390, height: 844 } }],
		...('GAPLINE_ALL' in process.env ? WIDER : []),
	]) {
		const page = await open(name, options);
		await page.evaluate(axe);
		const { violations } = await page.evaluate(() => window.axe.run({ resultTypes: ['violations'] }));
		assert.deepEqual(violations.map(v => `${v.impact} ${v.id}: ${v.nodes.slice(0, 3).map(node => node.html.slice(0, 160)).join(' | ')}`), [], name);
		await leave(page);
	}
});
