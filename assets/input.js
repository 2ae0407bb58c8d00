/* Wheel, pointer and keys on the timeline, its buttons, and the box beside the pointer. */
import { describe, gapSentence } from './details.js';
import { formatTime } from './format.js';

const WHEEL = 0.0018, BUTTON = 1.6, PAGE_SCROLL = 250, GESTURE = 120, SAY_AFTER = 80; /* ms */

function element(name, attributes, text) {
	const node = document.createElement(name);
	for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
	if (text !== undefined) node.textContent = text;
	return node;
}

/* The canvas, its buttons and its words; the static picture before it is put away. */
export function makeView(picture) {
	const view = element('div', { class: 'view' });
	const bar = element('div', { class: 'bar', role: 'toolbar', 'aria-label': 'Timeline' });
	const buttons = {
		closer: ['+', 'Zoom in (+)'],
		farther: ['−', 'Zoom out (−)'],
		whole: ['Whole', 'Whole: show everything (0)'],
		before: ['‹ gap', 'The long gap before (p)'],
		after: ['gap ›', 'The next long gap (n)'],
		lanes: ['All lanes', 'All lanes: show also those in which little happens'],
		copy: ['Copy link', 'Copy link to what is shown'],
		dark: ['✕', 'Highlight nothing (Escape)'],
	};
	for (const [key, [text, title]] of Object.entries(buttons))
		bar.append((buttons[key] = element('button', { type: 'button', title, 'aria-label': title }, text)));
	const shown = element('span', { class: 'shown' });
	bar.insertBefore(shown, buttons.dark);
	const stage = element('div', {
		class: 'stage',
		id: 'stage',
		tabindex: '0',
		role: 'application',
		'aria-label': `${picture.querySelector('title')?.textContent ?? 'Gap timeline'}. Arrow keys move, plus and minus zoom, 0 shows everything, n and p go to the next and the previous long gap.`,
	});
	const canvas = element('canvas', { role: 'img', 'aria-label': picture.querySelector('desc')?.textContent ?? 'Gap timeline' });
	const tip = element('div', { class: 'tip', hidden: '' });
	const said = element('p', { class: 'said', role: 'status' });
	stage.append(canvas);
	const legend = element('div', { class: 'legend', role: 'group', 'aria-label': 'Colours' });
	const hint = element('p', { class: 'note hint mouse' }, 'Wheel: zoom. Drag: move. Point at anything to read what it is. ? lists the keys.');
	const touch = element('p', { class: 'note hint touch' }, 'Drag: move. Two fingers: zoom. Touch anything to read what it is.');
	view.append(bar, stage, tip, legend, said, hint, touch);
	picture.before(view);
	picture.classList.add('put-away');
	return { view, bar, buttons, shown, stage, canvas, tip, legend, said };
}

/* A swatch with its words for each colour; a cause can be highlighted. */
function fillLegend(legend, timeline) {
	const entries = timeline.seen.map(which => {
		const { label, cause } = timeline.data.palette[which];
		const key = element('span', { class: 'swatch', 'aria-hidden': 'true' });
		const entry = element(cause === null ? 'span' : 'button', cause === null ? {} : { type: 'button', class: 'light', 'aria-pressed': 'false' });
		entry.append(key, label);
		if (cause !== null)
			entry.addEventListener('click', () => {
				const { lit } = timeline;
				const on = lit && lit.cause === which && lit.phase === undefined;
				timeline.light(on ? null : { cause: which });
			});
		return { which, entry, key };
	});
	legend.replaceChildren(...entries.map(({ entry }) => entry));
	let theme = null, known;
	timeline.listen(() => {
		if (theme === timeline.paints && known === timeline.lit) return;
		known = timeline.lit;
		for (const { which, entry, key } of entries) {
			const { lit } = timeline;
			if (entry.tagName === 'BUTTON')
				entry.setAttribute('aria-pressed', String(Boolean(lit) && lit.cause === which && lit.phase === undefined));
			if (theme !== timeline.paints) key.style.background = timeline.paints[which].css;
		}
		theme = timeline.paints;
	});
}

function fillTip(tip, timeline, hovered) {
	const { title, paint, lines } = describe(timeline, hovered);
	const key = element('span', { class: 'swatch' });
	key.style.background = timeline.paints[paint].css;
	const head = element('b', {});
	head.append(key, title);
	tip.replaceChildren(head, ...lines.map(line => element('span', { class: line.startsWith('  ') ? 'in' : '' }, line.trim())));
}

function placeTip(view, tip, event) {
	const frame = view.getBoundingClientRect();
	tip.hidden = false;
	const x = Math.min(Math.max(event.clientX - frame.left + 14, 0), Math.max(frame.width - tip.offsetWidth - 4, 0));
	tip.style.transform = `translate(${x}px, ${event.clientY - frame.top + 18}px)`;
}

function hover(parts, timeline, event) {
	const at = timeline.find(event.offsetX, event.offsetY);
	const known = timeline.hovered, same = at?.row === known?.row && at?.index === known?.index;
	if (at && !same) fillTip(parts.tip, timeline, at);
	if (!same) {
		timeline.hovered = at;
		timeline.update();
	}
	if (at) placeTip(parts.view, parts.tip, event);
	else parts.tip.hidden = true;
}

function leave(parts, timeline) {
	parts.tip.hidden = true;
	if (timeline.hovered) timeline.update();
	timeline.hovered = null;
}

export function sayGap(parts, timeline, step) {
	parts.said.textContent = step ? `Gap ${step.at + 1} of ${step.of}. ${gapSentence(timeline, step.gap)}` : 'No gap to go to.';
}

/* ---- wheel ---- */

/* A wheel that scrolls the page goes on scrolling it when the timeline comes under the pointer, and zooming out of what is
 * whole already is scrolling too. */
function listenWheel(stage, timeline) {
	let scrolled = 0, moved = -GESTURE, gesture = false;
	addEventListener('scroll', () => (scrolled = performance.now()), { passive: true });
	stage.addEventListener(
		'wheel',
		event => {
			const pixels = event.deltaMode === 1 ? 18 : event.deltaMode === 2 ? 400 : 1;
			/* a trackpad's gesture goes on the way it began: fingers never move quite straight */
			const now = performance.now();
			if (now - moved > GESTURE) gesture = Math.abs(event.deltaX) > Math.abs(event.deltaY) || event.shiftKey;
			moved = now;
			const sideways = gesture && !event.ctrlKey;
			if (sideways) {
				event.preventDefault();
				timeline.pan(((event.deltaX || event.deltaY) * pixels) / timeline.box.width);
				return;
			}
			const scrolling = performance.now() - scrolled < PAGE_SCROLL && !event.ctrlKey && !event.metaKey;
			if (scrolling || (event.deltaY > 0 && timeline.scale.whole)) return;
			event.preventDefault();
			timeline.zoom(Math.exp(Math.min(Math.max(event.deltaY * pixels, -300), 300) * WHEEL), event.offsetX);
		},
		{ passive: false },
	);
}

/* ---- pointers: one drags, two pinch ---- */

function listenPointers(parts, timeline) {
	const { stage } = parts, down = new Map();
	let onMap = false;
	const toMap = event => {
		const { least, most, length } = timeline.scale;
		const at = least + ((event.offsetX - timeline.box.x) / timeline.box.width) * (most - least);
		timeline.show(at - length / 2, at + length / 2);
	};
	stage.addEventListener('pointerdown', event => {
		if (event.button !== 0) return;
		stage.setPointerCapture(event.pointerId);
		down.set(event.pointerId, event.offsetX);
		onMap = event.offsetY >= timeline.mapY;
		if (onMap) toMap(event);
		leave(parts, timeline);
	});
	stage.addEventListener('pointermove', event => {
		if (!down.has(event.pointerId)) {
			if (event.pointerType === 'mouse') hover(parts, timeline, event);
			return;
		}
		const before = [...down.values()], x = event.offsetX;
		const moved = x - down.get(event.pointerId);
		down.set(event.pointerId, x);
		if (onMap) {
			toMap(event);
		} else if (down.size === 2) {
			const after = [...down.values()];
			const spread = Math.max(Math.abs(before[0] - before[1]), 8) / Math.max(Math.abs(after[0] - after[1]), 8);
			timeline.zoom(spread, (after[0] + after[1]) / 2);
		} else if (down.size === 1) {
			timeline.pan(-moved / timeline.box.width);
		}
	});
	for (const end of ['pointerup', 'pointercancel'])
		stage.addEventListener(end, event => {
			down.delete(event.pointerId);
			if (event.pointerType !== 'mouse' && end === 'pointerup') hover(parts, timeline, event);
		});
	stage.addEventListener('pointerleave', () => leave(parts, timeline));
	stage.addEventListener('dblclick', event => timeline.zoom(1 / 3, event.offsetX));
}

/* ---- keys and buttons ---- */

function listenKeys(parts, timeline, actions) {
	const keys = {
		ArrowLeft: event => timeline.pan(event.shiftKey ? -0.5 : -0.1),
		ArrowRight: event => timeline.pan(event.shiftKey ? 0.5 : 0.1),
		'+': actions.closer,
		'=': actions.closer,
		'-': actions.farther,
		'−': actions.farther,
		0: actions.whole,
		n: actions.after,
		p: actions.before,
		Home: () => timeline.show(timeline.scale.least, timeline.scale.least + timeline.scale.length),
		End: () => timeline.show(timeline.scale.most - timeline.scale.length, timeline.scale.most),
		Escape: actions.dark,
	};
	parts.stage.addEventListener('keydown', event => {
		if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
		event.preventDefault();
		keys[event.key](event);
	});
}

export function listen(parts, timeline, link) {
	const { buttons, stage } = parts;
	const actions = {
		closer: () => timeline.zoom(1 / BUTTON),
		farther: () => timeline.zoom(BUTTON),
		whole: () => {
			parts.said.textContent = '';
			timeline.reset();
		},
		before: () => sayGap(parts, timeline, timeline.step(-1)),
		after: () => sayGap(parts, timeline, timeline.step(1)),
		lanes: () => {
			timeline.allLanes = !timeline.allLanes;
			buttons.lanes.setAttribute('aria-pressed', timeline.allLanes);
			timeline.place();
		},
		copy: () => link.copy(buttons.copy),
		dark: () => {
			timeline.gap = null;
			parts.said.textContent = '';
			timeline.light(null);
		},
	};
	for (const [key, action] of Object.entries(actions)) buttons[key].addEventListener('click', action);
	buttons.lanes.hidden = !timeline.hasMinor;
	buttons.lanes.setAttribute('aria-pressed', 'false');
	listenWheel(stage, timeline);
	listenPointers(parts, timeline);
	listenKeys(parts, timeline, actions);
	fillLegend(parts.legend, timeline);
	/* Words lay the page out and paint it anew: not while something moves. */
	let later = 0;
	const put = (node, text) => {
		if (node.textContent !== text) node.textContent = text;
	};
	const say = () => {
		const { scale } = timeline;
		put(parts.shown, scale.whole ? '' : `${formatTime(scale.length)} shown`);
		buttons.farther.disabled = buttons.whole.disabled = scale.whole;
		buttons.dark.hidden = !timeline.lit;
		const words = timeline.litWords;
		put(buttons.dark, words ? `highlighted: ${words} ✕` : '');
	};
	say();
	timeline.listen(() => {
		clearTimeout(later);
		later = setTimeout(say, SAY_AFTER);
	});
}
