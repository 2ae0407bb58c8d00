/* The bars of a lane that are only a few pixels wide. A canvas without a GPU spends a microsecond on every rectangle, and
 * there may be thousands; so these are worked out here, pixel by pixel as a canvas would, and drawn as one picture a lane,
 * LEVELS pixels high, which the canvas stretches to the height of the lane. */

export const LEVELS = 12;
const MOST_COLUMNS = 16384; /* as wide as a canvas may be */

export class Strip {
	constructor() {
		this.canvas = document.createElement('canvas');
		this.context = this.canvas.getContext('2d', { willReadFrequently: true });
		this.columns = 0;
	}

	/* An empty strip, so many pixels wide. */
	begin(columns) {
		columns = Math.min(columns, MOST_COLUMNS);
		if (columns !== this.columns) {
			this.columns = this.canvas.width = columns;
			this.canvas.height = LEVELS;
			this.image = this.context.createImageData(columns, LEVELS);
			this.pixels = new Uint32Array(this.image.data.buffer);
			/* red, green, blue, and how much of the pixel is covered: colours are multiplied by it already */
			this.whole = new Float32Array(4 * columns);
			this.low = new Float32Array(4 * columns);
			this.level = new Uint8Array(columns);
		}
		this.whole.fill(0);
		this.level.fill(0);
		this.used = false;
	}

	over(into, column, [red, green, blue], share) {
		const at = 4 * column, rest = 1 - share;
		into[at] = into[at] * rest + red * share;
		into[at + 1] = into[at + 1] * rest + green * share;
		into[at + 2] = into[at + 2] * rest + blue * share;
		into[at + 3] = into[at + 3] * rest + share;
	}

	/* A bar of full height. */
	bar(x, width, rgb, alpha) {
		this.used = true;
		for (let column = Math.floor(x), end = x + width; column < end && column < this.columns; column++)
			this.over(this.whole, column, rgb, alpha * (Math.min(end, column + 1) - Math.max(x, column)));
	}

	/* Columns [from, to) up to a level, over everything else there. */
	summary(from, to, level, rgb, alpha) {
		this.used = true;
		for (let column = from; column < to && column < this.columns; column++) {
			for (let i = 4 * column; i < 4 * column + 4; i++) this.low[i] = this.whole[i];
			this.over(this.low, column, rgb, alpha);
			this.level[column] = level;
		}
	}

	pixel(from, column) {
		const at = 4 * column, share = from[at + 3];
		if (!share) return 0;
		/* 0xAABBGGRR, with colours that are not multiplied; every machine with a browser is little-endian */
		return ((share * 255 + 0.5) << 24) | ((from[at + 2] / share + 0.5) << 16) | ((from[at + 1] / share + 0.5) << 8) | (from[at] / share + 0.5);
	}

	/* `box`: the lane's, whose left edge is the strip's; `ratio`: pixels of the strip to one of the canvas's units. */
	draw(context, box, ratio) {
		if (!this.used) return;
		const { columns, pixels, level } = this;
		for (let column = 0; column < columns; column++) {
			const whole = this.pixel(this.whole, column), low = level[column] ? this.pixel(this.low, column) : whole;
			const edge = LEVELS - level[column];
			for (let row = 0, at = column; row < LEVELS; row++, at += columns) pixels[at] = row < edge ? whole : low;
		}
		this.context.putImageData(this.image, 0, 0);
		context.globalAlpha = 1;
		context.imageSmoothingEnabled = false;
		context.drawImage(this.canvas, 0, 0, columns, LEVELS, box.x, box.y, columns / ratio, box.height);
	}
}
