/* What is shown, as the fragment of the page's address: #t=START-END&gap=SIDE.DEVICE.NUMBER&lit=CAUSE@PHASE, times in ns.
 * A fragment that is not of this kind is somebody else's, and one that does not fit is left alone. */
import { sayGap } from './input.js';
import { copyText } from './tables.js';

const LATER = 250; /* ms after the last movement */

export class Link {
	constructor(timeline, parts) {
		this.timeline = timeline;
		this.parts = parts;
		this.timer = 0;
		this.read();
		addEventListener('hashchange', () => this.read());
		timeline.listen(() => {
			clearTimeout(this.timer);
			this.timer = setTimeout(() => this.write(), LATER);
		});
	}

	get fragment() {
		const { scale, gap, lit, data } = this.timeline, parts = [];
		if (!scale.whole) parts.push(`t=${Math.round(scale.start)}..${Math.round(scale.end)}`);
		if (gap) parts.push(`gap=${gap.side}.${gap.device}.${gap.group}`);
		if (lit) {
			const name = id => (id === undefined ? '' : encodeURIComponent(id ? (data.names.get(id) ?? '') : '-'));
			parts.push(`lit=${lit.cause === undefined ? '' : data.palette[lit.cause].cause}@${name(lit.phase)}@${name(lit.name)}`);
		}
		return parts.join('&');
	}

	write() {
		const ours = /^#(t|gap|lit)=/.test(location.hash), fragment = this.fragment;
		if (!fragment && !ours) return;
		try {
			history.replaceState(null, '', fragment ? `#${fragment}` : location.pathname + location.search);
		} catch {
			/* a sandboxed page has no history: links cannot be kept, everything else can */
		}
	}

	read() {
		if (!/^#(t|gap|lit)=/.test(location.hash)) return;
		const { timeline } = this, { data } = timeline;
		const fields = new Map(location.hash.slice(1).split('&').map(part => part.split('=', 2)));
		const [cause, phase, name] = (fields.get('lit') ?? '').split('@');
		const idOf = (text = '') => {
			let wanted;
			try {
				wanted = decodeURIComponent(text);
			} catch {
				return null;
			}
			if (wanted === '') return undefined;
			if (wanted === '-') return 0;
			for (const [id, known] of data.names) if (id && known === wanted) return id;
			return null;
		};
		const which = data.palette.findIndex(swatch => swatch.cause !== null && swatch.cause === cause);
		/* of another report, a cause or a name may not be here: then nothing is highlighted, and not more than was meant */
		const lit = { cause: cause ? (which < 0 ? null : which) : undefined, phase: idOf(phase), name: idOf(name) }, parts = Object.values(lit);
		timeline.light(parts.includes(null) || parts.every(part => part === undefined) ? null : lit);
		const gap = /^(\d)\.(\d+)\.(\d+)$/.exec(fields.get('gap') ?? '')?.slice(1).map(Number);
		if (gap) {
			const list = timeline.stops;
			const at = list.findIndex(g => g.side === gap[0] && g.device === gap[1] && g.group === gap[2]);
			if (at >= 0) {
				timeline.choose(list[at]);
				sayGap(this.parts, timeline, { gap: list[at], at, of: list.length });
			}
		}
		const [, start, end] = /^(-?\d+)\.\.(-?\d+)$/.exec(fields.get('t') ?? '') ?? [];
		if (start !== undefined && Number(start) < Number(end)) timeline.show(Number(start), Number(end));
	}

	copy(button) {
		this.write();
		const fragment = this.fragment;
		copyText(location.href.split('#')[0] + (fragment ? `#${fragment}` : '#timeline'), button);
	}
}
