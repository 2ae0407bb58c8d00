/* Times and names as the rest of the page writes them (gen/base/format.h). */

export function formatTime(ns) {
	const size = Math.abs(ns);
	if (size > 0 && size < 1000) return `${Math.round(ns)} ns`;
	const [unit, name] = size >= 1e10 ? [1e9, 's'] : size >= 1e5 || size === 0 ? [1e6, 'ms'] : [1e3, 'µs'];
	const value = size / unit;
	const decimals = value === 0 ? 0 : value >= 1000 ? 0 : value >= 100 ? 1 : value >= 10 ? 2 : value >= 1 ? 3 : 4;
	return `${ns < 0 ? '−' : ''}${value.toFixed(decimals)} ${name}`;
}

/* A time on an axis whose ticks are `step` apart: digits enough to tell neighbours apart. */
export function formatTick(ns, step, unit) {
	return (ns / unit.ns).toFixed(Math.max(0, Math.ceil(Math.log10(unit.ns / step) - 1e-9)));
}

export function tickUnit(step) {
	return step >= 1e9 ? { ns: 1e9, name: 's' } : step >= 1e4 ? { ns: 1e6, name: 'ms' } : { ns: 1e3, name: 'µs' };
}

/* The step between ticks: 1, 2 or 5 × 10^n ns, at most `most` of them in `length`. */
export function tickStep(length, most) {
	let step = 1;
	for (let i = 0; length / step > most; i++) step *= i % 3 === 1 ? 2.5 : 2;
	return step;
}

/* A kernel without "void " and its parameters. */
export function shortName(name) {
	let end = name.length;
	if (name.endsWith(')')) {
		let depth = 0;
		for (let at = end - 1; at >= 0; at--) {
			depth += name[at] === ')' ? 1 : name[at] === '(' ? -1 : 0;
			if (depth === 0) {
				end = at;
				break;
			}
		}
	}
	const short = name.slice(0, end).trimEnd().replace(/^void /, '');
	return short || name;
}
