/* What a segment or a gap is, in words: for the box beside the pointer and for those who hear the page. */
import { firstReaching, phaseName } from './data.js';
import { formatTime } from './format.js';

function inPhase(data, phase) {
	return phase ? data.inside + phaseName(data, phase) : data.outside;
}

/* The operation that ends a gap. */
function endOf(side, gap) {
	for (const lane of side.lanes) {
		if ((lane.kind !== 'stream' && lane.kind !== 'copies') || lane.device !== gap.device) continue;
		for (let i = firstReaching(lane, gap.end); i < lane.n && lane.start[i] <= gap.end; i++)
			if (lane.start[i] === gap.end && lane.many[i] === 1) return { lane, i };
	}
	return null;
}

function launchWords(lane, i) {
	if (lane.wait[i] < 0) return '';
	return `launched ${formatTime(lane.wait[i])} before it started, in a call of ${formatTime(lane.launch[i])}`;
}

function pieceWords(data, lane, i) {
	const call = lane.call[i] ? ` (${data.names.get(lane.call[i])})` : '';
	return `${data.palette[lane.which[i]].label}${call}${inPhase(data, lane.phase[i])}`;
}

/* Parts of a gap by cause, phase and call, the longest first: [words, ns, paint]. */
function partsOf(data, lane, pieces) {
	const parts = new Map();
	for (const i of pieces) {
		const words = pieceWords(data, lane, i);
		const part = parts.get(words) ?? [words, 0, lane.which[i]];
		part[1] += lane.end[i] - lane.start[i];
		parts.set(words, part);
	}
	return [...parts.values()].sort((a, b) => b[1] - a[1]);
}

/* "baseline: GPU idle for 30.2 ms, from 0 ms: 30.1 ms host code in data_load, …" */
export function gapSentence(timeline, gap) {
	const { data } = timeline, side = data.sides[gap.side];
	const { lane, pieces } = timeline.piecesOf(gap);
	const parts = lane ? partsOf(data, lane, pieces) : [];
	const gpu = side.devices > 1 ? `GPU ${gap.device}` : 'the GPU';
	const list = parts.slice(0, 4).map(([words, ns]) => `${formatTime(ns)} ${words}`);
	if (parts.length > 4) list.push(`${parts.length - 4} more`);
	const end = endOf(side, gap);
	const ended = end ? ` It ends with ${data.names.get(end.lane.name[end.i])}.` : '';
	return `${side.label}: ${gpu} is idle for ${formatTime(gap.end - gap.start)}: ${list.join(', ')}. Opened by: ${data.opened[gap.opened] ?? 'unknown'}.${ended}`;
}

/* The lines of the box: {title, paint, lines}. */
export function describe(timeline, { row, index: i }) {
	const { data } = timeline, { lane } = row, side = data.sides[row.side];
	const length = lane.end[i] - lane.start[i], lines = [];
	let title = data.names.get(lane.name[i]) ?? '';
	if (lane.kind === 'gaps') {
		title = `GPU idle ${formatTime(length)}: ${pieceWords(data, lane, i)}`;
		if (lane.many[i] > 1) lines.push(`${lane.many[i]} pieces, ${formatTime(lane.busy[i])} together; mostly this`);
		const gap = timeline.gapAt(row, i);
		if (gap) {
			const { pieces } = timeline.piecesOf(gap), parts = partsOf(data, lane, pieces);
			if (parts.length > 1) {
				lines.push(`part of a gap of ${formatTime(gap.end - gap.start)}:`);
				for (const [words, ns] of parts.slice(0, 4)) lines.push(`  ${formatTime(ns)} ${words}`);
				if (parts.length > 4) lines.push(`  and ${parts.length - 4} more`);
			}
			lines.push(`opened by: ${data.opened[gap.opened] ?? 'unknown'}`);
			const end = endOf(side, gap);
			if (end) {
				const launched = launchWords(end.lane, end.i);
				lines.push(`ends with ${data.names.get(end.lane.name[end.i])}${launched ? `, ${launched}` : ''}`);
			}
		}
	} else if (lane.kind === 'metric') {
		title = `${lane.label}: ${((100 * lane.busy[i]) / length).toFixed(0)}`;
	} else if (lane.many[i] > 1) {
		title = `${lane.many[i]} events`;
		lines.push(`${formatTime(lane.busy[i])} of ${formatTime(length)}; the longest: ${data.names.get(lane.name[i]) ?? ''}`);
	} else {
		lines.push(formatTime(length));
		if (lane.kind === 'stream' || lane.kind === 'copies') {
			lines.push(`stream ${lane.stream[i]}${inPhase(data, lane.phase[i])}`);
			const launched = launchWords(lane, i);
			if (launched) lines.push(launched);
		}
	}
	lines.push(`from ${formatTime(lane.start[i])} to ${formatTime(lane.end[i])}`);
	return { title, paint: lane.which[i], lines };
}
