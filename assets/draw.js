/* Lanes on a canvas, at any density, by the rules of the static picture (gen/render/lane.h): what is at least a pixel wide
 * is drawn at full height; what is narrower is summed up by pixel column, whose height says how much of it is covered and
 * whose colour by what most. So a gap wider than a pixel never disappears. */
import { firstReaching, phaseName } from './data.js';
import { formatTime, shortName } from './format.js';
import { LEVELS, Strip } from './strip.js';

const DIM = 0.22;
const FEW = 5; /* pixels: bars below it are drawn together */
const NARROWEST_LABEL = 30;
/* by paint and brightness, reused from lane to lane: what columns hold, and bars of at least a pixel: x, width, share */
const covers = new Map(), wide = new Map();
const strip = new Strip();

/* ---- words that fit ---- */

const widths = new Map();

function widthOf(context, text) {
	const key = context.font + text;
	let width = widths.get(key);
	if (width === undefined) {
		if (widths.size > 20000) widths.clear();
		width = context.measureText(text).width;
		widths.set(key, width);
	}
	return width;
}

/* As much of `text` as fits, its middle left out; '' when that says nothing. */
export function fitText(context, text, room) {
	const width = widthOf(context, text);
	if (width <= room) return text;
	const letters = Array.from(text.slice(0, 400));
	let kept = Math.floor((letters.length * room) / width) - 1;
	for (; kept >= 6; kept--) {
		const head = Math.ceil(kept / 2);
		const shorter = `${letters.slice(0, head).join('')}…${letters.slice(letters.length - (kept - head)).join('')}`;
		if (widthOf(context, shorter) <= room) return shorter;
	}
	return '';
}

/* ---- what is lit ---- */

/* Whether a lane has anything to do with what is lit; the others stay as they are. */
function concerns(lit, lane) {
	if (lit.name !== undefined) return lane.kind === 'stream' || lane.kind === 'calls' || lane.kind === 'copies';
	if (lit.cause !== undefined) return lane.kind === 'gaps';
	return lane.kind !== 'calls' && lane.kind !== 'metric';
}

export function isLit(lit, lane, i) {
	if (lit.name !== undefined) return lane.name[i] === lit.name;
	if (lane.kind === 'phases') return lane.name[i] === lit.phase;
	return (lit.cause === undefined || lane.which[i] === lit.cause) && (lit.phase === undefined || lane.phase[i] === lit.phase);
}

/* ---- bars ---- */

function coverOf(key, columns) {
	let cover = covers.get(key);
	if (!cover || cover.values.length < columns) {
		cover = { values: new Float32Array(columns), used: false };
		covers.set(key, cover);
	}
	if (!cover.used) cover.values.fill(0, 0, columns);
	cover.used = true;
	return cover.values;
}

function addCover(values, x, width, share, columns) {
	for (let column = Math.floor(x); width > 0 && column < columns; column++) {
		const part = Math.min(column + 1 - x, width);
		values[column] += part * share;
		x += part;
		width -= part;
	}
}

/* Neighbouring columns that look alike are one bar. Those with stripes are put off: [paint's key, from, to, level]. */
function drawColumns(paints, columns, ratio) {
	const used = [], later = [];
	for (const [key, cover] of covers)
		if (cover.used) {
			used.push([key, cover.values]);
			cover.used = false;
		}
	if (!used.length) return later;
	let from = 0, level = 0, key = -1;
	for (let column = 0; column <= columns; column++) {
		let all = 0, most = 0, best = -1;
		if (column < columns)
			for (const [candidate, values] of used) {
				all += values[column];
				if (values[column] > most) {
					most = values[column];
					best = candidate;
				}
			}
		const high = best < 0 ? 0 : all >= 1 ? LEVELS : 1 + Math.floor(all * (LEVELS - 1));
		if (column < columns && best === key && high === level) continue;
		if (key >= 0) {
			const { rgb } = paints[key >> 1];
			if (rgb) strip.summary(Math.round(from * ratio), Math.round(column * ratio), level, rgb, key & 1 ? DIM : 1);
			else later.push([key, from, column, level]);
		}
		from = column;
		level = high;
		key = best;
	}
	return later;
}

/* `box`: where the lane lies; `scale`: which time it shows. */
export function drawBars(context, lane, box, scale, paints, lit) {
	const ratio = devicePixelRatio || 1;
	const px = box.width / scale.length, columns = Math.ceil(box.width);
	const dims = lit && concerns(lit, lane);
	const { start, end, which, many, busy, n } = lane;
	for (const bars of wide.values()) bars.length = 0;
	for (let i = firstReaching(lane, scale.start); i < n && start[i] < scale.end; i++) {
		const x = Math.max((start[i] - scale.start) * px, 0);
		const width = Math.min((end[i] - scale.start) * px, box.width) - x;
		if (width <= 0) continue;
		const key = (which[i] << 1) | (dims && !isLit(lit, lane, i) ? 1 : 0);
		const share = many[i] > 1 ? Math.min(busy[i] / (end[i] - start[i]), 1) : 1;
		if (width < 1) {
			addCover(coverOf(key, columns), x, width, share, columns);
		} else {
			let bars = wide.get(key);
			if (!bars) wide.set(key, (bars = []));
			bars.push(x, width, share);
		}
	}
	strip.begin(Math.ceil(columns * ratio));
	/* a wait inside a longer call is drawn over it: paints are in that order */
	for (const key of [...wide.keys()].sort((a, b) => a - b)) {
		const bars = wide.get(key), { fill, rgb } = paints[key >> 1], alpha = key & 1 ? DIM : 1;
		if (!bars.length) continue;
		context.globalAlpha = alpha;
		context.fillStyle = fill;
		for (let k = 0; k < bars.length; k += 3) {
			const x = bars[k], width = bars[k + 1], share = bars[k + 2];
			if (width < FEW && share === 1 && rgb) {
				strip.bar(x * ratio, width * ratio, rgb, alpha);
				continue;
			}
			const height = box.height * share;
			/* a hair of background tells neighbours apart where there is room for it */
			context.fillRect(box.x + x, box.y + box.height - height, width > FEW ? width - 0.6 : width, height);
		}
	}
	const later = drawColumns(paints, columns, ratio);
	strip.draw(context, box, ratio);
	for (const [key, from, to, level] of later) {
		const height = (box.height * level) / LEVELS;
		context.globalAlpha = key & 1 ? DIM : 1;
		context.fillStyle = paints[key >> 1].fill;
		context.fillRect(box.x + from, box.y + box.height - height, to - from, height);
	}
	context.globalAlpha = 1;
}

/* What the host did during a gap stands in the gap's light. */
export function drawBands(context, lane, box, scale, paints, top) {
	const px = box.width / scale.length;
	if (lane.longest * px < 4) return;
	context.globalAlpha = 0.13;
	for (let i = firstReaching(lane, scale.start); i < lane.n && lane.start[i] < scale.end; i++) {
		const x = Math.max((lane.start[i] - scale.start) * px, 0);
		const width = Math.min((lane.end[i] - scale.start) * px, box.width) - x;
		if (width < 4) continue;
		context.fillStyle = paints[lane.which[i]].colour;
		context.fillRect(box.x + x, top, width, box.y - top);
	}
	context.globalAlpha = 1;
}

/* ---- words on bars ---- */

function write(context, paint, text, x, y) {
	if (paint.halo) {
		/* on stripes no outline makes small letters readable */
		context.fillStyle = paint.halo;
		context.fillRect(x - 3, y - 11, widthOf(context, text) + 6, 15);
	}
	context.fillStyle = paint.ink;
	context.fillText(text, x, y);
}

function drawGapLabel(context, data, lane, box, paint, i, x, room, spent, font) {
	const time = formatTime(spent), middle = box.y + box.height / 2;
	context.font = `bold 12px ${font}`;
	const first = fitText(context, data.palette[lane.which[i]].label, room);
	context.font = `12px ${font}`;
	const phase = data.hasPhases ? fitText(context, phaseName(data, lane.phase[i]), room - widthOf(context, ` · ${time}`)) : '';
	let second = phase ? `${phase} · ${time}` : time;
	if (widthOf(context, second) > room) second = '';
	if (second) write(context, paint, second, x, first ? middle + 12 : middle + 4);
	context.font = `bold 12px ${font}`;
	if (first) write(context, paint, first, x, second ? middle - 3 : middle + 4);
}

/* Pieces of one gap with one cause and phase carry one label, though pieces too narrow to see lie between them. */
export function drawLabels(context, data, lane, box, scale, paints, lit, font) {
	const px = box.width / scale.length, gaps = lane.kind === 'gaps';
	if (lane.longest * px < NARROWEST_LABEL) return;
	const end = i => Math.min((lane.end[i] - scale.start) * px, box.width);
	context.font = `${lane.kind === 'phases' ? 12 : 11}px ${font}`;
	let free = 0; /* segments of other streams, and calls inside calls, lie at the same place */
	for (let i = firstReaching(lane, scale.start), next; i < lane.n && lane.start[i] < scale.end; i = next) {
		const left = Math.max((lane.start[i] - scale.start) * px, 0);
		let right = end(i), spent = lane.end[i] - lane.start[i];
		next = i + 1;
		if (right - left < 1) continue;
		for (let k = i + 1; gaps && k < lane.n && lane.group[k] === lane.group[i]; k++) {
			const same = lane.which[k] === lane.which[i] && lane.phase[k] === lane.phase[i];
			if (!same && (lane.end[k] - lane.start[k]) * px >= 1.5) break;
			if (same) {
				right = end(k);
				spent += lane.end[k] - lane.start[k];
				next = k + 1;
			}
		}
		/* of stripes a good part stays free of a label's ground: they mean something */
		const meant = paints[lane.which[i]].halo && lane.kind !== 'calls', room = meant ? (right - left) * 0.6 : right - left - 8;
		if (room < (meant ? 90 : NARROWEST_LABEL) || (lane.many[i] > 1 && !gaps)) continue;
		context.globalAlpha = lit && concerns(lit, lane) && !isLit(lit, lane, i) ? 0.5 : 1;
		const paint = paints[lane.which[i]];
		if (gaps) {
			drawGapLabel(context, data, lane, box, paint, i, box.x + left + 4, room, spent, font);
		} else {
			const text = left < free ? '' : fitText(context, shortName(data.names.get(lane.name[i]) ?? ''), room);
			if (text) free = left + widthOf(context, text) + 8;
			if (text) write(context, paint, text, box.x + left + 4, box.y + box.height / 2 + 4);
		}
	}
	context.globalAlpha = 1;
}
