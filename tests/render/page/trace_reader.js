/* Reads a packed trace of the Trace Event Format in a browser, a piece at a time as viewers do: never is more of it in
 * memory than one piece, what was made of the events, and times as doubles. A page loads it as it is (perfetto.test.mjs);
 * what it makes of a file is one object that can be given back to the test. */

/* The events of the array `traceEvents`, one at a time, as texts of JSON objects; what stands around it is put together
 * in `around`. Knows of JSON only strings and brackets. */
async function* eventsOf(stream, around) {
	const reader = stream.pipeThrough(new TextDecoderStream('utf-8', { fatal: true })).getReader(), mark = '"traceEvents":[';
	let text = '', at = 0, depth = 0, begin = -1, inText = false;
	const more = async () => {
		const { done, value } = await reader.read();
		if (done) return false;
		const keep = begin < 0 ? at : begin;
		text = text.slice(keep) + value;
		at -= keep;
		if (begin >= 0) begin = 0;
		return true;
	};
	while (!text.includes(mark)) {
		const { done, value } = await reader.read();
		if (done) throw new Error('no traceEvents');
		text += value;
	}
	around.text = text.slice(0, text.indexOf(mark) + mark.length);
	at = around.text.length;
	for (;; at++) {
		while (at >= text.length) if (!await more()) throw new Error('it ends within the events');
		const c = text.charCodeAt(at);
		if (inText) {
			if (c === 0x5C) at++; /* what is escaped is one character, and ends no text */
			else if (c === 0x22) inText = false;
		} else if (c === 0x22) {
			inText = true;
		} else if (c === 0x7B || c === 0x5B) {
			if (depth++ === 0) begin = at;
		} else if (c === 0x7D || c === 0x5D) {
			if (depth === 0) break;
			if (--depth === 0) {
				yield text.slice(begin, at + 1);
				begin = -1;
			}
		}
	}
	around.text += text.slice(at);
	for (let piece; !(piece = await reader.read()).done;) around.text += piece.value;
}

/* Pairs of times that grow. */
class Spans {
	constructor() {
		this.at = new Float64Array(2048);
		this.n = 0;
	}
	add(start, end) {
		if (2 * this.n === this.at.length) {
			const more = new Float64Array(2 * this.at.length);
			more.set(this.at);
			this.at = more;
		}
		this.at.set([start, end], 2 * this.n++);
	}
	/* The same time, no two of them side by side, by start. */
	union() {
		const order = Array.from({ length: this.n }, (_, i) => i).sort((a, b) => this.at[2 * a] - this.at[2 * b]), found = [];
		for (const i of order) {
			const [start, end] = [this.at[2 * i], this.at[2 * i + 1]], last = found.at(-1);
			if (start === end) continue;
			if (last && start <= last[1]) last[1] = Math.max(last[1], end);
			else found.push([start, end]);
		}
		return found;
	}
}

/* The format's fields by kind of event, as Google's document lists them; the kinds are those that gapline writes. */
const METADATA = { process_name: ['name', 'string'], process_sort_index: ['sort_index', 'number'],
	thread_name: ['name', 'string'], thread_sort_index: ['sort_index', 'number'] };

function flawOf(e) {
	const isWhole = value => Number.isInteger(value) && value >= 0 && value < 2 ** 31;
	const isTime = value => typeof value === 'number' && value >= 0 && Math.abs(value * 1000 - Math.round(value * 1000)) < 0.01;
	if (typeof e.name !== 'string' || !isWhole(e.pid) || !isWhole(e.tid)) return 'name, pid or tid';
	if (e.ph === 'M') {
		const [key, type] = METADATA[e.name] ?? [];
		return key && typeof e.args?.[key] === type ? null : 'metadata';
	}
	if (!isTime(e.ts)) return 'ts';
	if (e.ph === 'i') return ['g', 'p', 't'].includes(e.s) ? null : 'scope';
	if (e.ph !== 'X') return 'ph';
	return isTime(e.dur) && typeof e.cat === 'string' && e.args && typeof e.args === 'object' ? null : 'dur, cat or args';
}

/* What a viewer would show of a file. Times are whole nanoseconds. */
async function readTrace(file) {
	const around = {}, processes = new Map(), rows = new Map(), sums = new Map(), devices = new Map(), idle = new Map();
	const trace = { events: 0, flaws: [], flags: [], kinds: {}, bytes: 0 };
	const flaw = (what, e) => trace.flaws.length < 10 && trace.flaws.push(`${what}: ${JSON.stringify(e).slice(0, 300)}`);
	const rowOf = e => {
		const key = `${e.pid}/${e.tid}`;
		if (!rows.has(key)) rows.set(key, { pid: e.pid, tid: e.tid, open: [], slices: 0, steps: [] });
		return rows.get(key);
	};
	const spansOf = (map, key) => map.get(key) ?? map.set(key, new Spans()).get(key);
	for await (const text of eventsOf(file.stream().pipeThrough(new DecompressionStream('gzip')), around)) {
		const e = JSON.parse(text), wrong = flawOf(e);
		trace.events++;
		trace.bytes += text.length;
		if (wrong) {
			flaw(wrong, e);
			continue;
		}
		if (e.ph === 'M') {
			const of = e.name.startsWith('process') ? processes.get(e.pid) ?? processes.set(e.pid, {}).get(e.pid) : rowOf(e);
			of[METADATA[e.name][0]] = e.args[METADATA[e.name][0]];
			continue;
		}
		const start = Math.round(e.ts * 1000), end = start + Math.round(e.dur * 1000);
		if (e.ph === 'i') {
			trace.flags.push(start);
			continue;
		}
		const row = rowOf(e), process = processes.get(e.pid)?.name;
		if (row.name === undefined || process === undefined) flaw('a slice before its row has a name', e);
		/* Of a row, slices begin one after the other, and each is within the one that is open. */
		if (row.slices && start < row.last) flaw('begins before the slice before it', e);
		while (row.open.length && row.open.at(-1) <= start) row.open.pop();
		if (row.open.length && end > row.open.at(-1)) flaw('does not nest', e);
		row.open.push(end);
		row.last = start;
		row.slices++;
		trace.kinds[e.cat] = (trace.kinds[e.cat] ?? 0) + 1;
		if (e.cat === 'step') row.steps.push([e.name, start, end, e.args.measured ?? null]);
		if (['kernel', 'communication', 'graph', 'copy', 'memset'].includes(e.cat)) spansOf(devices, process).add(start, end);
		if (e.cat === 'idle') {
			spansOf(idle, `${process}\n${row.name}`).add(start, end);
			const key = JSON.stringify([process, e.args.gpu, e.name, e.args.phase]);
			sums.set(key, (sums.get(key) ?? 0) + end - start);
		}
	}
	trace.around = JSON.parse(around.text);
	trace.processes = [...processes].map(([pid, { name, sort_index }]) => ({ pid, name, sort_index }));
	trace.rows = [...rows.values()].map(({ pid, tid, name, sort_index, slices, steps }) => ({ pid, tid, name, sort_index, slices, steps }));
	trace.sums = [...sums].map(([key, ns]) => [...JSON.parse(key), ns]);
	trace.busy = [...devices].map(([process, spans]) => [process, spans.union()]);
	trace.idle = [...idle].map(([key, spans]) => [...key.split('\n'), spans.union(), spans.n]);
	return trace;
}
