/* The pictures' colours on a canvas. Greys follow the page's theme, colours with a meaning stay. */

function stripes(context, colour, background) {
	const tile = document.createElement('canvas');
	tile.width = tile.height = 8;
	const ink = tile.getContext('2d');
	ink.fillStyle = background;
	ink.fillRect(0, 0, 8, 8);
	ink.strokeStyle = colour;
	ink.lineWidth = 3.2;
	for (let x = -8; x <= 16; x += 8) {
		ink.beginPath();
		ink.moveTo(x - 2, 10);
		ink.lineTo(x + 10, -2);
		ink.stroke();
	}
	return context.createPattern(tile, 'repeat');
}

/* The colour with marks on it, as the pictures have them (gen/render/svg.c). */
function marked(context, colour, marks) {
	const tile = document.createElement('canvas');
	tile.width = tile.height = 8;
	const ink = tile.getContext('2d');
	ink.fillStyle = colour;
	ink.fillRect(0, 0, 8, 8);
	ink.fillStyle = 'rgb(17 17 17 / 42%)';
	ink.fill(new Path2D(marks));
	return context.createPattern(tile, 'repeat');
}

/* Red, green and blue, 0 to 255. */
function numbersOf(context, colour) {
	context.fillStyle = '#000';
	context.fillStyle = colour; /* whatever CSS calls it, it is read back as #rrggbb */
	return [1, 3, 5].map(at => parseInt(context.fillStyle.slice(at, at + 2), 16));
}

/* Paints by number in the data's palette, and the page's own colours. */
export function makePaints(context, element, palette) {
	const style = getComputedStyle(element);
	const variable = (name, otherwise) => style.getPropertyValue(`--${name}`).trim() || otherwise;
	const page = {
		ink: variable('ink', '#111'),
		muted: variable('muted', '#555'),
		line: variable('line', '#ddd'),
		card: variable('card', '#fff'),
		boundary: variable('boundary', '#444'),
		accent: variable('after', '#0b6e7d'),
		font: style.fontFamily,
	};
	const paints = palette.map(swatch => {
		const colour = variable(swatch.class, swatch.colour);
		const grey = swatch.cause === null;
		let pattern = null; /* few of them are needed */
		return {
			colour,
			get fill() {
				if (!swatch.striped && !swatch.marks) return colour;
				return (pattern ??= swatch.marks ? marked(context, colour, swatch.marks) : stripes(context, colour, page.card));
			},
			css: swatch.striped ? `repeating-linear-gradient(-45deg, ${colour} 0 2.3px, ${page.card} 2.3px 5.6px)` : colour,
			rgb: swatch.striped ? null : numbersOf(context, colour),
			/* what follows the theme takes the theme's ink */
			ink: grey || swatch.striped ? page.ink : swatch.ink,
			halo: swatch.striped ? page.card : null,
		};
	});
	return { page, paints };
}
