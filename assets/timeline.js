/* The gap timeline that can be zoomed: both sides' steps on one time scale. It takes the static picture's place, which
 * stays in the page for print. What is drawn where is worked out in `place`; `draw` draws a frame; everything else asks
 * for one with `update`. */
import { firstReaching, phaseName } from './data.js';
import { drawBands, drawBars, drawLabels, fitText, isLit } from './draw.js';
import { formatTick, formatTime, shortName, tickStep, tickUnit } from './format.js';
import { makePaints } from './palette.js';
import { Scale } from './scale.js';

const HEIGHT = { phases: 22, calls: 18, stream: 20, copies: 14, metric: 20, gaps: 42 };
const LOW_GAPS = 30, LABELLED = 45; /* a lane of short gaps, and pixels from which on a gap has words */
const NARROW = 640, GUTTER = 184, ABOVE = 15; /* without room for a gutter, labels stand above their lanes */
const HEADING = 26, TALL_HEADING = 44, AXIS = 24, MAP = 22, LANE_GAP = 4, SIDE_GAP = 16, NEAR = 2.5;
const LONGEST_GAPS = 200; /* of a side, for stepping from one to the next */

function listGaps(data) {
	const list = [];
	data.sides.forEach((side, s) => {
		const gaps = side.gaps.flatMap(of =>
			Array.from({ length: of.n }, (_, i) => ({
				side: s,
				device: of.device,
				start: of.start[i],
				end: of.end[i],
				opened: of.opened[i],
				group: of.group[i],
			})),
		);
		gaps.sort((a, b) => b.end - b.start - (a.end - a.start));
		list.push(...gaps.slice(0, LONGEST_GAPS).sort((a, b) => a.start - b.start));
	});
	return list;
}

export class Timeline {
	constructor(data, element) {
		this.data = data;
		this.element = element;
		this.canvas = element.querySelector('canvas');
		this.context = this.canvas.getContext('2d');
		this.scale = new Scale(Math.max(...data.sides.map(side => side.length)));
		this.gaps = listGaps(data);
		this.lit = null; /* {cause, phase, name}, what is undefined does not matter */
		this.gap = null; /* the chosen one of `gaps` */
		this.hovered = null; /* {row, index} */
		this.allLanes = false;
		this.listeners = new Set();
		this.frame = 0;
		new ResizeObserver(() => element.clientWidth !== this.placed && this.place()).observe(element);
		matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.place());
		this.place();
	}

	/* Called after every change of what is shown. */
	listen(listener) {
		this.listeners.add(listener);
	}

	update() {
		this.frame ||= requestAnimationFrame(() => {
			this.frame = 0;
			this.draw();
			for (const listener of this.listeners) listener();
		});
	}

	/* ---- where things lie ---- */

	get hasMinor() {
		return this.data.sides.some(side => side.lanes.some(lane => lane.minor));
	}

	place() {
		this.placed = this.element.clientWidth;
		const width = Math.max(this.placed, 200);
		this.narrow = width < NARROW;
		const gutter = this.narrow ? 6 : GUTTER, above = this.narrow ? ABOVE : 0;
		this.box = { x: gutter, width: width - gutter - 8 };
		this.rows = [];
		this.headings = [];
		let y = 4;
		this.data.sides.forEach((side, s) => {
			/* names of steps stand below the side's where there is no gutter for it */
			const top0 = y + (this.narrow ? TALL_HEADING : HEADING);
			this.headings.push({ side, y, top: top0 });
			y = top0;
			let top = y;
			for (const lane of side.lanes) {
				if (!this.allLanes && lane.minor) continue;
				const height = this.heightOf(lane);
				y += above;
				this.rows.push({ side: s, lane, y, height, top });
				y += height + LANE_GAP;
				if (lane.kind === 'gaps') {
					y += LANE_GAP;
					if (side.devices > 1) top = y;
				}
			}
			this.headings[s].bottom = y - LANE_GAP;
			y += SIDE_GAP;
		});
		this.axisY = y - SIDE_GAP / 2;
		this.mapY = this.axisY + AXIS + above;
		this.height = this.mapY + MAP + 2;
		const ratio = devicePixelRatio || 1;
		this.canvas.width = Math.round(width * ratio);
		this.canvas.height = Math.round(this.height * ratio);
		this.canvas.style.width = `${width}px`;
		this.canvas.style.height = `${this.height}px`;
		this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
		Object.assign(this, makePaints(this.context, this.element, this.data.palette));
		this.map = null;
		this.update();
	}

	/* Where no gap has room for words, a lane of gaps has only its own label to hold. */
	heightOf(lane) {
		const least = (LABELLED / this.box.width) * (this.scale.most - this.scale.least);
		const low = lane.kind === 'gaps' && !lane.start.some((start, i) => lane.end[i] - start >= least);
		return low ? LOW_GAPS : HEIGHT[lane.kind];
	}

	xOf(time) {
		return this.box.x + ((time - this.scale.start) / this.scale.length) * this.box.width;
	}

	timeAt(x) {
		return this.scale.start + ((x - this.box.x) / this.box.width) * this.scale.length;
	}

	/* The innermost segment at a place, or the longest of those that are nearly there. */
	find(x, y) {
		const row = this.rows.find(r => y >= r.y - 1 && y < r.y + r.height + 1);
		if (!row || x < this.box.x || x > this.box.x + this.box.width) return null;
		const { lane } = row, time = this.timeAt(x), near = (NEAR / this.box.width) * this.scale.length;
		let inside = -1, close = -1;
		for (let i = firstReaching(lane, time - near); i < lane.n && lane.start[i] <= time + near; i++) {
			const length = lane.end[i] - lane.start[i];
			if (lane.end[i] < time - near) continue;
			if (lane.start[i] <= time && lane.end[i] > time) {
				if (inside < 0 || length <= lane.end[inside] - lane.start[inside]) inside = i;
			} else if (close < 0 || length > lane.end[close] - lane.start[close]) {
				close = i;
			}
		}
		const index = inside >= 0 ? inside : close;
		return index >= 0 ? { row, index } : null;
	}

	/* ---- a frame ---- */

	draw() {
		const c = this.context, { page } = this;
		c.clearRect(0, 0, this.canvas.width, this.canvas.height);
		c.textBaseline = 'alphabetic';
		this.drawAxis();
		c.save();
		c.beginPath();
		c.rect(this.box.x, 0, this.box.width, this.axisY);
		c.clip();
		for (const row of this.rows)
			if (row.lane.kind === 'gaps') drawBands(c, row.lane, this.boxOf(row), this.scale, this.paints, row.top);
		for (const row of this.rows) this.drawRow(row);
		for (const heading of this.headings) this.drawSteps(heading);
		this.drawSaving();
		this.drawGap();
		this.drawHovered();
		c.restore();
		c.textAlign = 'start';
		for (const { side, y } of this.headings) {
			c.font = `bold 15px ${page.font}`;
			c.fillStyle = page.ink;
			c.fillText(side.label, 4, y + 17);
		}
		for (const row of this.rows) this.drawName(row);
		this.drawMap();
	}

	boxOf(row) {
		return { x: this.box.x, width: this.box.width, y: row.y, height: row.height };
	}

	drawName({ lane, y, height }) {
		const c = this.context, middle = y + height / 2, { font, muted } = this.page;
		const whole = lane.note ? `${lane.label}: ${lane.note}` : lane.label;
		c.textAlign = 'start';
		c.fillStyle = muted;
		c.font = `${lane.kind === 'gaps' ? 'bold ' : ''}12px ${font}`;
		if (this.narrow) {
			/* over the lines of steps and time */
			const text = fitText(c, whole, this.box.width);
			c.strokeStyle = this.page.card;
			c.lineWidth = 4;
			c.strokeText(text, this.box.x, y - 4);
			c.fillText(text, this.box.x, y - 4);
			return;
		}
		c.fillText(fitText(c, lane.label, this.box.x - 10), 4, lane.note ? middle - 3 : middle + 4);
		c.font = `12px ${font}`;
		if (lane.note) c.fillText(fitText(c, lane.note, this.box.x - 10), 4, middle + (lane.kind === 'gaps' ? 12 : 9));
	}

	drawRow(row) {
		const c = this.context, box = this.boxOf(row);
		const right = Math.min(this.xOf(this.data.sides[row.side].length), box.x + box.width);
		c.fillStyle = this.page.line;
		c.fillRect(this.xOf(0), row.y + row.height, right - this.xOf(0), 1);
		c.textAlign = 'start';
		drawBars(c, row.lane, box, this.scale, this.paints, this.lit);
		if (row.lane.kind !== 'copies' && row.lane.kind !== 'metric')
			drawLabels(c, this.data, row.lane, box, this.scale, this.paints, this.lit, this.page.font);
	}

	drawAxis() {
		const c = this.context, { page, scale, box } = this;
		const step = tickStep(scale.length, Math.max(box.width / 100, 2)), unit = tickUnit(step);
		c.font = `12px ${page.font}`;
		c.fillStyle = page.muted;
		c.textAlign = 'start';
		if (!this.narrow) c.fillText(`time, ${unit.name}`, 4, this.axisY + 16);
		c.textAlign = 'center';
		for (let t = Math.ceil(scale.start / step) * step; t <= scale.end; t += step) {
			const x = this.xOf(t);
			c.fillStyle = page.line;
			c.fillRect(Math.round(x), 24, 1, this.axisY - 22);
			c.fillStyle = page.muted;
			const tick = formatTick(t, step, unit).replace(/^-(0(\.0*)?)$/, '$1').replace('-', '−');
			const text = this.narrow ? `${tick} ${unit.name}` : tick;
			const half = c.measureText(text).width / 2;
			c.fillText(text, Math.min(Math.max(x, box.x + half), box.x + box.width - half), this.axisY + 16);
		}
	}

	drawSteps({ side, top, bottom }) {
		const c = this.context, { box } = this;
		c.strokeStyle = this.page.boundary;
		c.lineWidth = 1.2;
		c.setLineDash([4, 3]);
		c.beginPath();
		for (const time of side.boundary) {
			const x = this.xOf(time);
			c.moveTo(x, top - 20);
			c.lineTo(x, bottom);
		}
		c.stroke();
		c.setLineDash([]);
		c.font = `12px ${this.page.font}`;
		c.fillStyle = this.page.ink;
		c.textAlign = 'center';
		for (let i = 0; i + 1 < side.boundary.length; i++) {
			const left = Math.max(this.xOf(side.boundary[i]), box.x);
			const right = Math.min(this.xOf(side.boundary[i + 1]), box.x + box.width);
			if (right <= left) continue;
			const [whole, brief] = side.steps[i] ?? ['', ''];
			const text = c.measureText(whole).width < right - left - 8 ? whole : fitText(c, brief, right - left - 6);
			if (text) c.fillText(text, (left + right) / 2, top - 8);
		}
	}

	/* In the room that the shorter side leaves. */
	drawSaving() {
		const { saving: text, shorter } = this.data;
		if (!text) return;
		const c = this.context, heading = this.headings[shorter];
		const from = this.xOf(this.data.sides[shorter].length) + 6;
		const to = Math.min(this.xOf(this.data.sides[1 - shorter].length), this.box.x + this.box.width - 4);
		c.font = `12px ${this.page.font}`;
		if (c.measureText(text).width + 40 > to - from || from < this.box.x) return;
		/* in the middle, unless lanes have their names there */
		const y = this.narrow ? heading.top - 12 : (heading.top + heading.bottom) / 2;
		c.strokeStyle = this.page.boundary;
		c.lineWidth = 1.2;
		c.beginPath();
		c.moveTo(to, y);
		c.lineTo(from, y);
		c.moveTo(from + 7, y - 4);
		c.lineTo(from, y);
		c.lineTo(from + 7, y + 4);
		c.stroke();
		c.fillStyle = this.page.ink;
		c.textAlign = 'center';
		c.fillText(text, (from + to) / 2, y - 8);
	}

	drawGap() {
		if (!this.gap) return;
		const row = this.rows.find(r => r.side === this.gap.side && r.lane.kind === 'gaps' && r.lane.device === this.gap.device);
		if (!row) return;
		const x = this.xOf(this.gap.start), width = Math.max(this.xOf(this.gap.end) - x, 2);
		this.context.strokeStyle = this.page.ink;
		this.context.lineWidth = 2;
		this.context.strokeRect(x - 1, row.y - 1, width + 2, row.height + 2);
	}

	/* The hovered segment has a frame, and a line leads to it from its launch. */
	drawHovered() {
		if (!this.hovered) return;
		const c = this.context, { row, index } = this.hovered, { lane } = row;
		const x = this.xOf(lane.start[index]), width = Math.max(this.xOf(lane.end[index]) - x, 1.5);
		c.strokeStyle = this.page.ink;
		c.lineWidth = 1.5;
		c.strokeRect(x, row.y, width, row.height);
		const launch = this.launchOf(row, index);
		if (!launch) return;
		const x0 = this.xOf(launch.row.lane.start[launch.index]), x1 = this.xOf(launch.row.lane.end[launch.index]);
		const y0 = launch.row.y + launch.row.height;
		c.strokeRect(x0, launch.row.y, Math.max(x1 - x0, 1.5), launch.row.height);
		c.beginPath();
		c.moveTo(x1, y0);
		c.lineTo(x, row.y);
		c.stroke();
	}

	/* The call that launched an op, if its lane is shown. */
	launchOf(row, index) {
		const { lane } = row;
		if (lane.wait[index] < 0 || lane.many[index] > 1) return null;
		const start = lane.start[index] - lane.wait[index], end = start + lane.launch[index];
		for (const other of this.rows) {
			if (other.side !== row.side || other.lane.kind !== 'calls') continue;
			for (let i = firstReaching(other.lane, start); i < other.lane.n && other.lane.start[i] <= start; i++)
				if (other.lane.start[i] === start && other.lane.end[i] === end) return { row: other, index: i };
		}
		return null;
	}

	/* All that is stored, small: the waits of both sides, and a frame around what is shown above. */
	drawMap() {
		const c = this.context, { box, page } = this;
		const all = { start: this.scale.least, length: this.scale.most - this.scale.least };
		all.end = all.start + all.length;
		if (!this.map) {
			this.map = document.createElement('canvas');
			const ratio = devicePixelRatio || 1;
			this.map.width = Math.max(Math.round(box.width * ratio), 1);
			this.map.height = Math.round(MAP * ratio);
			const inner = this.map.getContext('2d');
			inner.setTransform(ratio, 0, 0, ratio, 0, 0);
			this.data.sides.forEach((side, s) => {
				const lane = side.lanes.find(l => l.kind === 'gaps');
				const half = { x: 0, width: box.width, y: s * (MAP / 2) + 1, height: MAP / 2 - 2 };
				inner.fillStyle = page.line;
				inner.fillRect((-all.start / all.length) * box.width, half.y, (side.length / all.length) * box.width, half.height);
				if (lane) drawBars(inner, lane, half, all, this.paints, null);
			});
		}
		c.drawImage(this.map, box.x, this.mapY, box.width, MAP);
		c.font = `12px ${page.font}`;
		c.fillStyle = page.muted;
		c.textAlign = 'start';
		if (this.narrow) c.fillText('overview', box.x, this.mapY - 4);
		else c.fillText('overview', 4, this.mapY + 15);
		const x = box.x + ((this.scale.start - all.start) / all.length) * box.width;
		const width = Math.max((this.scale.length / all.length) * box.width, 3);
		c.globalAlpha = 0.72;
		c.fillStyle = page.card;
		c.fillRect(box.x, this.mapY, x - box.x, MAP);
		c.fillRect(x + width, this.mapY, box.x + box.width - x - width, MAP);
		c.globalAlpha = 1;
		c.strokeStyle = page.accent;
		c.lineWidth = 2;
		c.strokeRect(x, this.mapY, width, MAP);
	}

	/* ---- what can be asked of it ---- */

	show(start, end) {
		this.scale.set(start, end);
		this.update();
	}

	zoom(factor, x = this.box.x + this.box.width / 2) {
		this.scale.zoom(factor, this.timeAt(x));
		this.update();
	}

	pan(share) {
		this.scale.pan(share * this.scale.length);
		this.update();
	}

	reset() {
		this.scale.reset();
		this.gap = null;
		this.update();
	}

	/* What there is to see, for a legend: numbers in the palette, causes first. */
	get seen() {
		const total = new Float64Array(this.data.palette.length);
		for (const side of this.data.sides)
			for (const lane of side.lanes)
				for (let i = 0; lane.kind !== 'phases' && lane.kind !== 'metric' && i < lane.n; i++) total[lane.which[i]] += lane.end[i] - lane.start[i];
		const least = Math.max(...this.data.sides.map(side => side.length)) / 1000;
		return [...total.keys()].filter(which => total[which] >= least);
	}

	/* What is highlighted, in words. */
	get litWords() {
		if (!this.lit) return '';
		const { cause, phase, name } = this.lit;
		if (name !== undefined) return shortName(this.data.names.get(name) ?? 'not in these steps');
		const words = cause === undefined ? '' : this.data.palette[cause].label;
		if (phase === undefined) return words;
		return words ? `${words}, ${phaseName(this.data, phase)}` : phaseName(this.data, phase);
	}

	light(lit) {
		this.lit = lit;
		this.update();
	}

	/* The pieces of a gap: indices in its lane. */
	piecesOf(gap) {
		const lane = this.data.sides[gap.side].lanes.find(l => l.kind === 'gaps' && l.device === gap.device);
		const pieces = [];
		if (lane)
			for (let i = firstReaching(lane, gap.start); i < lane.n && lane.start[i] < gap.end; i++)
				if (lane.group[i] === gap.group) pieces.push(i);
		return { lane, pieces };
	}

	/* The whole gap that a piece belongs to, if it is stored. */
	gapAt(row, index) {
		const of = this.data.sides[row.side].gaps.find(gaps => gaps.device === row.lane.device);
		if (!of) return null;
		const i = of.group.indexOf(row.lane.group[index]);
		if (i < 0) return null;
		return { side: row.side, device: of.device, start: of.start[i], end: of.end[i], opened: of.opened[i], group: of.group[i] };
	}

	choose(gap) {
		this.gap = gap;
		if (gap) {
			const length = gap.end - gap.start;
			this.scale.set(gap.start - 0.75 * length, gap.end + 0.75 * length);
		}
		this.update();
	}

	/* The long gaps, the longest first; with something lit, those that have a part in it. */
	get stops() {
		const { lit } = this;
		const isStop = gap => {
			const { lane, pieces } = this.piecesOf(gap);
			return pieces.some(i => isLit(lit, lane, i));
		};
		const stops = lit && lit.name === undefined ? this.gaps.filter(isStop) : [...this.gaps];
		return stops.sort((a, b) => b.end - b.start - (a.end - a.start));
	}

	/* The next of them, or the one before. */
	step(way) {
		const list = this.stops;
		if (!list.length) return null;
		let at = list.indexOf(this.gap);
		if (at < 0) at = way > 0 ? -1 : list.length;
		at = (at + way + list.length) % list.length;
		this.choose(list[at]);
		return { gap: list[at], at, of: list.length };
	}
}
