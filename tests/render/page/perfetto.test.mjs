/* What --perfetto writes, opened in a browser by a small reader of our own (trace_reader.js), as a viewer opens a local
 * file: rows with names in their order, slices that nest, idle slices that are the report's budget, sides that are aligned
 * at a step. Which files there are and how they were made: check_browser.py. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { blank, fileOf, jsonOf } from './browser.mjs';

const TRACES = ['example', 'names', 'traced-large', 'traced-ddp-2gpu', 'traced-tiny-kernels-graph'];
const SIDES = ['baseline', 'fixed'];

async function read(name) {
	const page = await blank('<input type="file" id="file">');
	await page.addScriptTag({ path: fileURLToPath(new URL('trace_reader.js', import.meta.url)) });
	await page.setInputFiles('#file', fileOf(`${name}.trace.json.gz`));
	const trace = await page.evaluate(() => readTrace(document.querySelector('#file').files[0]));
	assert.deepEqual(page.wrong, []);
	return trace;
}

/* [[a, b], …] without what is outside of a window. */
const clip = (spans, [start, end]) => spans.map(([a, b]) => [Math.max(a, start), Math.min(b, end)]).filter(([a, b]) => a < b);

/* The spans between them. */
function between(spans, [start, end]) {
	const found = [];
	for (const [a, b] of [...spans, [end, end]]) {
		if (a > start) found.push([start, a]);
		start = Math.max(start, b);
	}
	return found;
}

function windowOf(trace, side) {
	const result = trace.processes.find(process => process.name === `${side}: gapline`);
	const steps = trace.rows.find(row => row.pid === result.pid && row.name === 'steps').steps;
	const measured = steps.filter(([name]) => name === 'measured');
	assert.equal(measured.length, 1, `${side}: measured`);
	return { window: measured[0].slice(1, 3), steps: steps.filter(([name]) => name !== 'measured') };
}

function isTheBudget(trace, said, side, name) {
	const { window, steps } = windowOf(trace, side), what = `${name}, ${side}`;
	const within = steps.filter(([, , , measured]) => measured), per = said.steps.found ? within.length : 1;
	assert.equal(said.runs.length, 1, `${what}: the budget of one run`);
	assert.equal(window[1] - window[0], Math.round(said.runs[0].window_ms * 1e6), `${what}: window`);
	if (said.steps.found) {
		assert.deepEqual(steps.map(([, a, b]) => b - a), said.runs[0].period_ms.map(ms => Math.round(ms * 1e6)), `${what}: steps`);
		assert.deepEqual([within[0][1], within.at(-1)[2]], window, `${what}: measured steps`);
	}
	for (const device of said.devices) {
		const of = trace.sums.filter(([process, gpu]) => process === `${side}: gapline` && gpu === device.id);
		const found = new Map(of.map(([, , cause, phase, ns]) => [`${cause} in ${phase}`, ns])), wanted = new Map();
		for (const row of device.idle) {
			const key = `${row.cause} in ${row.phase}`;
			wanted.set(key, (wanted.get(key) ?? 0) + Math.round(row.ms_per_step * per * 1e6));
		}
		assert.ok(wanted.size > 0, `${what}: no idle time`);
		assert.deepEqual([...found].sort(), [...wanted].sort(), `${what}, GPU ${device.id}: causes`);
		/* What nothing ran in is what is called idle, no more and no less. */
		const [, busy] = trace.busy.find(([process]) => process.startsWith(`${side}: GPU ${device.id},`));
		const [, , idle] = trace.idle.find(([process, row]) => process === `${side}: gapline` && row === `idle, GPU ${device.id}`);
		assert.deepEqual(between(clip(busy, window), window), idle, `${what}, GPU ${device.id}: idle slices`);
	}
	return window[0];
}

test('a trace opens in a browser, and is the report', async t => {
	for (const name of TRACES) {
		if (!existsSync(fileOf(`${name}.trace.json.gz`))) {
			t.diagnostic(`${name} is not there`);
			continue;
		}
		const trace = await read(name), result = await jsonOf(name);
		assert.deepEqual(trace.flaws, [], name);
		assert.equal(trace.around.displayTimeUnit, 'ns');
		assert.deepEqual(trace.around.traceEvents, []);
		/* Rows: each has a name and a place of its own. */
		const places = [...trace.processes.map(p => `${p.sort_index}`), ...trace.rows.map(r => `${r.pid}/${r.sort_index}`)];
		assert.equal(new Set(places).size, places.length, `${name}: places`);
		for (const row of trace.rows) assert.ok(row.slices > 0 && trace.processes.some(p => p.pid === row.pid), `${name}: ${row.name}`);
		for (const kind of ['step', 'phase', 'idle', 'nvtx', 'cuda', 'kernel']) assert.ok(trace.kinds[kind] > 0, `${name}: no ${kind}`);
		const begin = SIDES.map(side => isTheBudget(trace, result[side], side, name));
		assert.deepEqual([begin[0], ...trace.flags], [begin[1], begin[1]], `${name}: aligned`);
		/* … where a step that is left out ends, or nothing is left out. */
		for (const side of SIDES) {
			const ends = windowOf(trace, side).steps.map(([, , b]) => b), { warmup } = result[side].runs[0];
			if (warmup > 1) assert.equal(ends[warmup - 2], begin[0], `${name}, ${side}: begins with step ${warmup}`);
		}
		if (name === 'traced-large') assert.ok(trace.bytes > 2e7 && trace.events > 1e5, `${name}: ${trace.events} events`);
		t.diagnostic(`${name}: ${trace.events} events, ${trace.rows.length} rows, ${(trace.bytes / 1e6).toFixed(1)} MB`);
	}
});

test('the reader sees what is wrong', async () => {
	const page = await blank('');
	await page.addScriptTag({ path: fileURLToPath(new URL('trace_reader.js', import.meta.url)) });
	const event = more => ({ ph: 'X', name: 'k', pid: 1, tid: 1, cat: 'kernel', ts: 1, dur: 2, args: {}, ...more });
	const named = [{ ph: 'M', name: 'process_name', pid: 1, tid: 0, args: { name: 'p' } }, { ph: 'M', name: 'thread_name', pid: 1, tid: 1, args: { name: 't' } }];
	const flaws = (...events) => page.evaluate(async text => {
		const packed = new Blob([text]).stream().pipeThrough(new CompressionStream('gzip'));
		try {
			return (await readTrace(await new Response(packed).blob())).flaws.map(flaw => flaw.split(':')[0]);
		} catch (error) {
			return [error.constructor.name];
		}
	}, typeof events[0] === 'string' ? events[0] : JSON.stringify({ traceEvents: [...named, ...events] }));
	assert.deepEqual(await flaws(event({ name: '}]"\\' }), event({ ts: 1.5, dur: 1 }), event({ ts: 9 })), []);
	assert.deepEqual(await flaws(event(), event({ ts: 2, dur: 2 })), ['does not nest']);
	assert.deepEqual(await flaws(event({ ts: 4 }), event()), ['begins before the slice before it']);
	assert.deepEqual(await flaws(event({ tid: 7 })), ['a slice before its row has a name']);
	assert.deepEqual(await flaws(event({ ts: 1.00051 }), event({ dur: -1 }), event({ ph: 'B' }), event({ pid: '1' })),
		['ts', 'dur, cat or args', 'ph', 'name, pid or tid']);
	assert.deepEqual(await flaws('{"traceEvents":[{"ph":"X"'), ['Error']);
	assert.deepEqual(await flaws('{"traceEvents":[{"ph":X}]}'), ['SyntaxError']);
});
