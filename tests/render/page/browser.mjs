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
export const jsonOf = async name => JSON.parse(await readFile(fileOf(`${name}.json`), 'utf8'));

let browser = null, server = null;

afterEach(async () => {
	for (const context of browser?.contexts() ?? []) await context.close();
});

after(async () => {
	await browser?.close();
	server?.close();
});

/* A page of its own; what goes wrong in it is noted in `page.wrong`, every address asked for in `page.asked`. */
async function newPage(options) {
	browser ??= await chromium.launch({ executablePath: process.env.GAPLINE_CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] });
	const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
	const page = await context.newPage();
	page.wrong = [];
	page.asked = [];
	page.on('pageerror', error => page.wrong.push(error.message));
	page.on('console', message => ['error', 'warning'].includes(message.type()) && page.wrong.push(message.text()));
	page.on('dialog', dialog => page.wrong.push(`dialog: ${dialog.message()}`) && dialog.dismiss());
	page.on('request', request => page.asked.push(request.url()));
	return page;
}

/* A page with nothing but this in it. */
export async function blank(html) {
	const page = await newPage({});
	await page.setContent(html);
	return page;
}

/* Opens a report; `ready`: its script says when it is. */
export async function open(name, { at = pathToFileURL(fileOf(name)).href, fragment = '', ready = true, ...options } = {}) {
	const page = await newPage(options);
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
