/* Which part of the time is on the screen: [start, end) of [least, most) ns. */

const CLOSEST = 1000; /* ns on the whole width */

export class Scale {
	constructor(most) {
		this.least = -most * 0.004;
		this.most = most * 1.012;
		this.reset();
	}

	reset() {
		this.start = this.least;
		this.end = this.most;
	}

	get length() {
		return this.end - this.start;
	}

	get whole() {
		return this.start <= this.least && this.end >= this.most;
	}

	set(start, end) {
		const all = this.most - this.least;
		const length = Math.min(Math.max(end - start, Math.min(CLOSEST, all)), all);
		const middle = (start + end) / 2;
		this.start = Math.min(Math.max(middle - length / 2, this.least), this.most - length);
		this.end = this.start + length;
	}

	/* `factor` < 1: closer. What is at time `at` stays where it is. */
	zoom(factor, at) {
		const all = this.most - this.least;
		const length = Math.min(Math.max(this.length * factor, Math.min(CLOSEST, all)), all);
		const share = (at - this.start) / this.length;
		const start = at - share * length;
		this.set(start, start + length);
	}

	pan(ns) {
		this.set(this.start + ns, this.end + ns);
	}
}
