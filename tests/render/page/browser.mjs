/* What the page's tests share: one browser a file, a local server with policies, and the timeline as a reader meets it. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import path from 'node:path';
import { after, afterEach } from 'node:test';
import { pathToFileURL } from 'node:url';
import { inflateSync } from 'node:zlib';
import { chromium } from 'playwright-core';

const folder = process.env.GAPLINE_REPORTS;
export const fileOf = name => path.join(folder, name.includes('.') ? name : `${name}.html`);
/* Of the captures beside the repository, those that are there. */
export const RECORDED = ['gpt2', 'compile'].filter(name => existsSync(fileOf(name)));
/* One of each kind: a verdict that is sure, wide, of other work, none, slower, of more GPUs than rows, of whole runs; and a profile alone. */
export const KINDS = [RECORDED.includes('compile') ? 'compile' : 'pair', 'wide', 'other', 'undecided', 'slower', 'gpus32', 'profile', 'span'];
/* All whose page a checker reads. */
export const REPORTS = ['pair', 'devices', 'no-steps', 'inconclusive', 'undecided', 'self', 'stopwatch', 'hostile', 'large', 'one', 'example', 'slower', 'nothing', 'gpus16', 'kernel', 'names', 'trend', 'wide', 'other', 'gpus32', 'profile', 'span', ...RECORDED];
/* Of those that axe and the Nu checker read, one of each template and the one with hostile names; check-all reads all. */
const SOME = ['pair', 'hostile', 'gpus16', 'kernel', 'trend', 'profile', 'span', 'no-steps'];
export const some = names => names.filter(name => 'GAPLINE_ALL' in process.env || SOME.includes(name));
export const jsonOf = async name => JSON.parse(await readFile(fileOf(`${name}.json`), 'utf8'));

let browser = null, server = null;
/* Pages that a test has, and by their options those that it had: a new one takes a processor three times as long as the
 * report that is opened in it. */
const taken = new Set(), left = new Map();
const VIEWPORT = { width: 1280, height: 900 };

afterEach(async () => {
	for (const page of taken) await leave(page);
});

/* Done with a page. Whoever gets it next finds it as if it were new: another document, at its size, on a screen, with the
 * pointer outside. One that a test changed for good is closed. */
export async function leave(page) {
	taken.delete(page);
	if (page.own) return page.context().close();
	await page.goto(pathToFileURL(fileOf('blank')).href);
	await page.emulateMedia({ media: null });
	await page.setViewportSize(page.options.viewport ?? VIEWPORT);
	await page.mouse.move(-1, -1);
	const key = JSON.stringify(page.options);
	left.set(key, [...(left.get(key) ?? []), page]);
}

after(async () => {
	await browser?.close();
	server?.close();
});

/* A page; what goes wrong in it is noted in `page.wrong`, every address asked for in `page.asked`. `own`: no other test
 * has had it or will. */
async function takePage(options, own) {
	const page = (!own && left.get(JSON.stringify(options))?.pop()) || (await newPage(options));
	taken.add(Object.assign(page, { wrong: [], asked: [], own, options }));
	return page;
}

async function newPage(options) {
	browser ??= await chromium.launch({ executablePath: process.env.GAPLINE_CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] });
	const context = await browser.newContext({ viewport: VIEWPORT, ...options });
	const page = await context.newPage();
	page.on('pageerror', error => page.wrong.push(error.message));
	page.on('console', message => ['error', 'warning'].includes(message.type()) && page.wrong.push(message.text()));
	page.on('dialog', dialog => page.wrong.push(`dialog: ${dialog.message()}`) && dialog.dismiss());
	page.on('request', request => page.asked.push(request.url()));
	return page;
}

/* A page with nothing but this in it. */
export async function blank(html) {
	const page = await takePage({}, true);
	await page.setContent(html);
	return page;
}

/* Opens a report; `ready`: its script says when it is. `at` 'about:blank': a page of the test's own, without one. */
export async function open(name, { at = pathToFileURL(fileOf(name)).href, fragment = '', ready = true, ...options } = {}) {
	const page = await takePage(options, at === 'about:blank');
	await page.goto(at + fragment, { waitUntil: 'load' });
	if (ready && options.javaScriptEnabled !== false && !at.startsWith('http')) await isReady(page);
	return page;
}

/* The script's last deed is a mark; two frames later all of it is drawn. */
export async function isReady(page) {
	await page.waitForFunction(() => performance.getEntriesByName('gapline-settled').length > 0);
	await frames(page);
}

export function frames(page, n = 2) {
	return page.evaluate(async count => {
		for (let i = 0; i < count; i++) await new Promise(done => requestAnimationFrame(done));
	}, n);
}

/* The reports under a policy: `${await serve()}/POLICY/NAME.html`. */
export const POLICIES = {
	none: null,
	jenkins: "sandbox; default-src 'none'; img-src 'self'; style-src 'self'",
	scripts: "sandbox allow-scripts; default-src 'self'",
};

export async function serve() {
	if (!server) {
		server = createServer(async (request, response) => {
			const [, policy, name] = request.url.split('/');
			const headers = { 'content-type': 'text/html; charset=utf-8' };
			if (POLICIES[policy]) headers['content-security-policy'] = POLICIES[policy];
			try {
				const body = await readFile(path.join(folder, path.basename(name)));
				response.writeHead(200, headers).end(body);
			} catch {
				response.writeHead(404).end();
			}
		});
		await new Promise(done => server.listen(0, '127.0.0.1', done));
		server.unref();
	}
	return `http://127.0.0.1:${server.address().port}`;
}

/* ---- the timeline ---- */

/* What is shown, [start, end] in ns: the fragment says it a quarter of a second after the last movement, of the page's
 * own clock, which a busy machine holds up. */
export async function shown(page) {
	await page.evaluate(() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 320)))));
	const found = /[#&]t=(-?\d+)\.\.(-?\d+)/.exec(await page.evaluate(() => location.hash));
	return found ? [Number(found[1]), Number(found[2])] : null;
}

export async function stageBox(page) {
	const stage = page.locator('#stage');
	await stage.scrollIntoViewIfNeeded();
	await page.waitForTimeout(300); /* a wheel right after scrolling scrolls on */
	return stage.boundingBox();
}

/* The page's data as the script unpacks it, by other means. */
export async function dataOf(name) {
	const html = await readFile(fileOf(name), 'utf8');
	const [, packed] = /<script id="data" type="text\/plain">([^<]*)<\/script>/.exec(html);
	return JSON.parse(inflateSync(Buffer.from(packed, 'base64')));
}

/* ---- the verdict ---- */

/* What the first screen says, and where it ends. */
export const card = page =>
	page.evaluate(() => {
		const text = selector => [...document.querySelectorAll(`#verdict ${selector}`)].map(node => node.innerText).join(' ');
		return {
			all: document.querySelector('header').innerText + document.querySelector('#verdict').innerText,
			doubts: text('.chip:is(.unknown, .failed) > summary') + text('.gate.inconclusive'),
			headline: text('.result'),
			times: text('.sentence'),
			interval: text('figcaption'),
			chips: [...document.querySelectorAll('.chip > summary')].map(node => node.innerText),
			step: text('.steps'),
			parts: [...document.querySelectorAll('.parts li')].map(node => node.innerText),
			why: text('.why'),
			next: text('.next'),
			bottom: document.querySelector('#verdict').getBoundingClientRect().bottom,
			wide: document.documentElement.scrollWidth,
		};
	});
