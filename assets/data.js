/* What the timeline draws (gen/render/data.h says what it looks like), unpacked from the page. It came from a profile
 * through a file that anyone may have edited: whatever does not fit is an error here, and the page stays as it was. */

const KINDS = ['phases', 'calls', 'stream', 'copies', 'metric', 'gaps'];
const MOST = 64 << 20; /* bytes, unpacked */

function demand(condition, what) {
	if (!condition) throw new Error(`the timeline's data: ${what}`);
}

async function unpack(text) {
	const letters = atob(text.trim());
	const bytes = new Uint8Array(letters.length);
	for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
	const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate')).getReader();
	const decoder = new TextDecoder();
	let json = '';
	for (let size = 0; ; ) {
		const { done, value } = await reader.read();
		if (done) return JSON.parse(json + decoder.decode());
		size += value.length;
		demand(size <= MOST, 'too long');
		json += decoder.decode(value, { stream: true });
	}
}

/* A column: an array, or one number that holds for all. */
function readColumn(from, key, n, otherwise) {
	const value = from[key] ?? otherwise;
	const column = new Float64Array(n);
	if (Array.isArray(value)) {
		demand(value.length === n, `${key} has ${value.length} of ${n} values`);
		for (let i = 0; i < n; i++) column[i] = Number.isFinite(value[i]) ? value[i] : NaN;
	} else {
		column.fill(Number.isFinite(value) ? value : NaN);
	}
	demand(!column.includes(NaN), `${key} is not a number`);
	return column;
}

function rowsOf(from, keys) {
	for (const key of keys) if (Array.isArray(from[key])) return from[key].length;
	return keys.every(key => typeof from[key] === 'number') ? 1 : 0;
}

function readTimes(from, keys, first) {
	const n = rowsOf(from, keys);
	const start = readColumn(from, 'start', n, first);
	for (let i = 1; i < n; i++) start[i] += start[i - 1];
	const end = readColumn(from, 'length', n, 0);
	for (let i = 0; i < n; i++) end[i] += start[i];
	return { n, start, end };
}

function readLane(from, paletteSize) {
	demand(KINDS.includes(from.kind), 'a lane of an unknown kind');
	const lane = { kind: from.kind, label: String(from.label), note: String(from.note ?? ''), device: Number(from.device), minor: Boolean(from.minor) };
	const keys = ['start', 'length', 'which', 'name', 'phase', 'wait', 'group', 'many'];
	Object.assign(lane, readTimes(from, keys.filter(key => from[key] !== undefined), 0));
	for (const key of ['which', 'name', 'phase', 'call', 'stream', 'group', 'busy']) lane[key] = readColumn(from, key, lane.n, 0);
	for (const key of ['wait', 'launch']) lane[key] = readColumn(from, key, lane.n, -1);
	lane.many = readColumn(from, 'many', lane.n, 1);
	/* how far any segment up to here reaches: segments may hold others */
	lane.reach = new Float64Array(lane.n);
	let first = 0;
	lane.longest = 0; /* segment, or all pieces of a gap: ns */
	for (let i = 0; i < lane.n; i++) {
		demand(lane.which[i] >= 0 && lane.which[i] < paletteSize, 'a colour that is not there');
		demand(lane.end[i] >= lane.start[i] && (i === 0 || lane.start[i] >= lane.start[i - 1]), 'times out of order');
		lane.reach[i] = Math.max(lane.end[i], i ? lane.reach[i - 1] : 0);
		if (i === 0 || lane.kind !== 'gaps' || lane.group[i] !== lane.group[first]) first = i;
		lane.longest = Math.max(lane.longest, lane.end[i] - lane.start[first]);
	}
	return lane;
}

function readSide(from, paletteSize) {
	const side = {
		label: String(from.label),
		length: Number(from.length),
		steps: Array.from(from.steps, words => Array.from(words, String)),
		least: Number(from.least),
	};
	demand(side.length > 0 && Number.isFinite(side.length), 'nothing is shown');
	side.boundary = Array.from(from.boundary, Number);
	side.lanes = Array.from(from.lanes, lane => readLane(lane, paletteSize));
	side.gaps = Array.from(from.gaps, gaps => {
		const keys = ['start', 'length', 'opened', 'group'];
		const times = readTimes(gaps, keys, 0);
		return {
			device: Number(gaps.device),
			...times,
			opened: readColumn(gaps, 'opened', times.n, 0),
			group: readColumn(gaps, 'group', times.n, 0),
		};
	});
	side.devices = new Set(side.lanes.filter(lane => lane.kind === 'gaps').map(lane => lane.device)).size;
	return side;
}

export async function readData(element) {
	const from = await unpack(element.textContent);
	demand(Array.isArray(from.palette) && Array.isArray(from.names) && from.keys?.length === from.names.length && (from.sides?.length === 1 || from.sides?.length === 2), 'a part is missing');
	const names = new Map([[0, '']]);
	from.names.forEach((name, i) => names.set(i + 1, String(name)));
	return {
		unit: String(from.unit),
		hasPhases: Boolean(from.phases),
		outside: String(from.outside),
		inside: String(from.inside),
		saving: from.saving === null ? '' : String(from.saving),
		shorter: from.shorter ? 1 : 0,
		palette: from.palette.map(swatch => ({
			class: String(swatch.class),
			colour: String(swatch.colour),
			ink: String(swatch.ink),
			label: String(swatch.label),
			striped: Boolean(swatch.striped),
			marks: typeof swatch.marks === 'string' ? swatch.marks : null,
			cause: swatch.cause === null ? null : String(swatch.cause),
		})),
		opened: from.opened.map(String),
		sides: from.sides.map(side => readSide(side, from.palette.length)),
		names,
		noPhase: String(from.no_phase),
		keys: new Map(['0', ...from.keys].map((key, id) => [String(key), id])),
	};
}

/* ---- looking things up ---- */

/* The first segment that may reach beyond `time`. */
export function firstReaching(lane, time) {
	let low = 0;
	for (let high = lane.n; low < high; ) {
		const middle = (low + high) >> 1;
		if (lane.reach[middle] > time) high = middle;
		else low = middle + 1;
	}
	return low;
}

export function phaseName(data, id) {
	return id ? (data.names.get(id) ?? '') : data.noPhase;
}
