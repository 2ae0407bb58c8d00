/* Tables that can be sorted, searched and copied, whole names where they are shortened, and rows that highlight what they
 * are about in the timeline. Without this script the tables are complete and in order, and open to all their rows. */

const SEARCHED = 9; /* rows from which on a table has a search field */

function make(name, attributes, text) {
	const node = document.createElement(name);
	for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
	if (text !== undefined) node.textContent = text;
	return node;
}

export async function copyText(text, button) {
	let done = true;
	try {
		await navigator.clipboard.writeText(text);
	} catch {
		/* not a secure place, or not allowed: the old way, with a selection */
		const area = make('textarea', { class: 'copied', 'aria-hidden': 'true' });
		area.value = text;
		document.body.append(area);
		area.select();
		done = document.execCommand('copy');
		area.remove();
	}
	const before = button.dataset.text ?? button.textContent;
	button.dataset.text = before;
	button.textContent = done ? 'copied' : 'not allowed';
	setTimeout(() => (button.textContent = before), 1200);
}

/* ---- sorting ---- */

/* The number behind what a cell shows; where there is none, below all others. */
const numberOf = cell => Number(cell.dataset.n ?? -Infinity);

/* The rows that the table has, without the sums of those that are not shown. */
function bodyRows(table) {
	return [...table.tBodies[0].rows].filter(row => !row.classList.contains('more'));
}

/* As many rows as before are shown at first, from the new order's top on; the sum of the others follows them. */
function putRows(table, rows) {
	const body = table.tBodies[0];
	const shown = rows.filter(row => !row.classList.contains('rest')).length;
	rows.forEach((row, i) => row.classList.toggle('rest', i >= shown));
	const sums = [...body.querySelectorAll('.more:not(.beyond)')], beyond = [...body.querySelectorAll('.beyond')];
	/* a sum is of other rows now */
	const stale = rows.some((row, i) => row !== table.inOrder[i]);
	sums.forEach(row => row.classList.toggle('stale', stale));
	body.append(...rows.slice(0, shown), ...sums, ...rows.slice(shown), ...beyond);
}

function sortBy(table, column, falling, size = value => value) {
	const numeric = table.tHead.rows[0].cells[column].classList.contains('n');
	const value = row => (numeric ? size(numberOf(row.cells[column])) : row.cells[column].textContent.trim());
	const compare = numeric ? (a, b) => a - b : (a, b) => a.localeCompare(b, 'en', { numeric: true });
	const keyed = bodyRows(table).map(row => [value(row), row]);
	keyed.sort(([a], [b]) => (falling ? compare(b, a) : compare(a, b)));
	putRows(table, keyed.map(([, row]) => row));
}

function unmark(table) {
	for (const cell of table.tHead.rows[0].cells) cell.removeAttribute('aria-sort');
	table.differences?.setAttribute('aria-pressed', 'false');
}

function makeSortable(table) {
	[...table.tHead.rows[0].cells].forEach((header, column) => {
		if (header.tagName !== 'TH' || !header.textContent.trim() || header.classList.contains('bars')) return;
		const button = make('button', { type: 'button', class: 'sort' }, header.textContent);
		button.addEventListener('click', () => {
			const numeric = header.classList.contains('n');
			const falling = header.getAttribute('aria-sort') === (numeric ? 'descending' : 'ascending') ? !numeric : numeric;
			unmark(table);
			header.setAttribute('aria-sort', falling ? 'descending' : 'ascending');
			sortBy(table, column, falling);
		});
		header.replaceChildren(button);
	});
}

/* Largest change first, whichever its direction; again: the order of before. */
function makeDifferences(table, tools) {
	const column = [...table.tHead.rows[0].cells].findIndex(cell => cell.textContent === 'Change');
	if (column < 0 || bodyRows(table).length < 3) return;
	const button = make('button', { type: 'button', 'aria-pressed': 'false' }, 'Differences first');
	table.differences = button;
	button.addEventListener('click', () => {
		const on = button.getAttribute('aria-pressed') !== 'true';
		unmark(table);
		button.setAttribute('aria-pressed', String(on));
		if (on) sortBy(table, column, true, Math.abs);
		else putRows(table, table.inOrder);
	});
	tools.append(button);
}

/* ---- searching and copying ---- */

function textOf(row) {
	return `${row.textContent} ${row.querySelector('[data-whole]')?.dataset.whole ?? ''}`.toLowerCase();
}

function makeSearchable(table, tools, label) {
	const rows = bodyRows(table);
	if (rows.length < SEARCHED) return;
	const holder = table.closest('.rows');
	const field = make('input', { type: 'search', placeholder: `Search ${rows.length} rows`, 'aria-label': `Search all ${rows.length} rows of ${label}` });
	const said = make('span', { class: 'shown', role: 'status' });
	field.addEventListener('input', () => {
		const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
		let found = 0;
		for (const row of rows) {
			const text = textOf(row);
			row.hidden = !words.every(word => text.includes(word));
			found += !row.hidden;
		}
		holder?.classList.toggle('searched', words.length > 0);
		said.textContent = words.length === 0 ? '' : found ? `${found} of ${rows.length}` : 'nothing matches';
	});
	tools.append(said, field);
}

function cellText(cell) {
	const whole = cell.querySelector('[data-whole]')?.dataset.whole;
	const text = whole ?? cell.querySelector('.light')?.textContent ?? cell.textContent;
	return text.trim().replace(/\s+/g, ' ').replace(/[\\|<>`*_[\]]/g, '\\$&');
}

function isShown(row) {
	return getComputedStyle(row).display !== 'none';
}

/* The visible rows as a Markdown table, for a pull request. */
function toMarkdown(table) {
	const keep = [...table.tHead.rows[0].cells].map((cell, i) => (cell.classList.contains('bars') ? -1 : i)).filter(i => i >= 0);
	const line = cells => `| ${keep.map(i => cellText(cells[i])).join(' | ')} |`;
	const rows = [...table.rows].filter(row => isShown(row) && row.parentNode !== table.tHead);
	const rule = `| ${keep.map(i => (table.tHead.rows[0].cells[i].classList.contains('n') ? '--:' : '---')).join(' | ')} |`;
	return [line(table.tHead.rows[0].cells), rule, ...rows.map(row => line(row.cells))].join('\n');
}

function makeCopyable(table, tools) {
	const button = make('button', { type: 'button', title: 'Copy the rows as a Markdown table' }, 'Copy table');
	button.addEventListener('click', () => copyText(toMarkdown(table), button));
	tools.append(button);
}

/* ---- names and lights ---- */

function makeName(row, timeline, lights) {
	const name = row.querySelector('th span[title]') ?? (row.cells[0].title ? row.cells[0] : row.querySelector('th > span:last-child')) ?? row.cells[0];
	const { cause, phase, name: id } = row.dataset;
	const holder = name.tagName === 'TH' ? make('span', {}) : name;
	if (holder !== name) {
		holder.append(...name.childNodes);
		name.append(holder);
	}
	const whole = name.title;
	if (timeline && (cause ?? phase ?? id) !== undefined) {
		const light = make('button', { type: 'button', class: 'light', 'aria-pressed': 'false', title: 'Highlight in the timeline' });
		light.append(...holder.childNodes);
		holder.append(light);
		/* a name that the timeline does not have is nowhere in it: undefined would be everywhere */
		const number = key => (key === undefined ? undefined : (timeline.data.keys.get(key) ?? -1));
		const lit = { cause: cause === undefined ? undefined : Number(cause), phase: number(phase), name: number(id) };
		light.addEventListener('click', () => lights.toggle(lit));
		lights.add(light, lit);
	}
	if (!whole) return;
	name.removeAttribute('title');
	holder.dataset.whole = whole;
	const text = holder.querySelector('.light') ?? holder, short = text.textContent;
	const more = make('button', { type: 'button', class: 'tool', 'aria-expanded': 'false' }, 'whole name');
	more.addEventListener('click', () => {
		const open = more.getAttribute('aria-expanded') === 'true';
		text.textContent = open ? short : whole;
		more.setAttribute('aria-expanded', !open);
	});
	const copy = make('button', { type: 'button', class: 'tool' }, 'copy');
	copy.addEventListener('click', () => copyText(whole, copy));
	const tools = make('span', { class: 'name-tools' });
	tools.append(more, ' ', copy);
	name.append(tools);
}

/* Which rows are lit. */
class Lights {
	constructor(timeline) {
		this.timeline = timeline;
		this.buttons = [];
		let known;
		timeline?.listen(() => {
			if (known === timeline.lit) return;
			known = timeline.lit;
			for (const [button, lit] of this.buttons) button.setAttribute('aria-pressed', String(this.same(lit)));
		});
	}

	add(button, lit) {
		this.buttons.push([button, lit]);
	}

	same(lit) {
		const now = this.timeline.lit;
		return Boolean(now) && now.cause === lit.cause && now.phase === lit.phase && now.name === lit.name;
	}

	toggle(lit) {
		const off = this.same(lit);
		this.timeline.light(off ? null : lit);
		if (!off) this.timeline.element.closest('section').scrollIntoView({ block: 'start' });
	}
}

/* `timeline` may be missing: everything else works all the same. */
export function improveTables(timeline) {
	const lights = new Lights(timeline);
	for (const table of document.querySelectorAll('.scroll table')) {
		if (!table.tHead || !table.querySelector('th.bars')) continue;
		const label = table.closest('.scroll').getAttribute('aria-label');
		table.inOrder = bodyRows(table);
		const tools = make('div', { class: 'tools' });
		for (const row of bodyRows(table)) makeName(row, timeline, lights);
		makeSearchable(table, tools, label.toLowerCase());
		makeDifferences(table, tools);
		makeCopyable(table, tools);
		makeSortable(table);
		table.closest('.scroll').before(tools);
	}
	for (const table of document.querySelectorAll('.scroll table.sorts')) {
		table.inOrder = bodyRows(table);
		makeSortable(table);
	}
}
