/* speed.mjs CHROMIUM REPORT.html ...: how long a report takes to paint and to become interactive, and what a frame costs
 * the main thread while the timeline is zoomed and moved. Run by bench/page.sh and check_paint; the limits: 1.5 MB, 120 ms, 500 ms, 16 ms
 * for 19 frames of 20. They are held against the main thread's own time, which a busy machine hardly changes. By the clock
 * the first paint has the same limit on a quiet machine; on a busy one it may take RATIO times as long as that of a page of
 * one line, which is what the browser itself takes there.
 * Both are opened in turns, so that a busy machine is as busy for one as for the other.
 *
 * A report is opened as a reader does who has a browser running: from a file, in a process of its own, and in a window that
 * has stood for a second: a new one loads some hundred scripts for its own address bar meanwhile. Interactive is when every
 * handler is in place and the timeline has been drawn. */
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';

const [executablePath, ...reports] = process.argv.slice(2);
const ROUNDS = 9, LOADING = 700, STANDING = 1000; /* ms */
const RATIO = 3, QUIET = 40; /* a machine on which the page of one line is painted within so many ms has nothing else to do */
const LIMIT = { size: 1.5e6, paint: 120, interactive: 500, frame: 16 };
const sorted = list => [...list].sort((a, b) => a - b);
const quantile = (list, q) => sorted(list)[Math.min(Math.floor(q * list.length), list.length - 1)];
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
let failed = 0;

function say(what, value, limit, unit) {
	const ok = value <= limit;
	failed += !ok;
	console.log(`  ${what}: ${value.toFixed(unit === 'MB' ? 2 : 1)} ${unit} (limit ${limit} ${unit})${ok ? '' : ' FAILED'}`);
}

/* Nothing is asked of a page while it loads: Playwright's waitForFunction would first run 300 kB of script in it. */
async function open(report) {
	const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
	const page = await context.newPage();
	await page.waitForTimeout(STANDING);
	await page.goto(pathToFileURL(path.resolve(report)).href, { waitUntil: 'commit' });
	for (let times; ; ) {
		await page.waitForTimeout(LOADING);
		times = await page.evaluate(() => performance.getEntries().map(entry => [entry.name, entry.startTime]));
		const { 'first-contentful-paint': paint, 'gapline-interactive': interactive } = Object.fromEntries(times);
		if (paint && interactive) return { page, paint, interactive };
	}
}

/* Medians of pages opened in turns, a list beside `pages`. The first loads warm the browser up. */
async function load(pages) {
	const times = pages.map(() => []);
	for (let i = 0; i <= ROUNDS; i++)
		for (const [k, report] of pages.entries()) {
			times[k].push(await open(report));
			await times[k][i].page.context().close();
		}
	const median = (list, key) => quantile(list.slice(1).map(time => time[key]), 0.5);
	return times.map(list => ({ paint: median(list, 'paint'), interactive: median(list, 'interactive') }));
}

/* The main thread's own time from navigation to the first paint and to a page in order, in ms; of `n` loads the medians.
 * The first one warms the browser up. */
async function ownTimes(report, n) {
	const paint = [], interactive = [];
	for (let i = 0; i <= n; i++) {
		const context = await browser.newContext({ viewport: { width: 1280, height: 900 } }), page = await context.newPage();
		await page.goto('about:blank');
		await page.waitForTimeout(STANDING);
		await browser.startTracing(page, { categories: ['toplevel', 'loading', 'devtools.timeline', 'blink.user_timing'] });
		await page.goto(pathToFileURL(path.resolve(report)).href, { waitUntil: 'load' });
		await page.waitForTimeout(2 * LOADING);
		const { traceEvents } = JSON.parse(String(await browser.stopTracing()));
		const last = (name, of = () => true) => traceEvents.filter(e => e.name === name && of(e)).at(-1);
		const first = last('firstContentfulPaint'), mark = last('gapline-interactive');
		const begin = last('navigationStart', e => e.pid === first.pid);
		const tasks = traceEvents.filter(e => e.pid === first.pid && e.tid === first.tid && e.ph === 'X' && e.name === 'ThreadControllerImpl::RunTask' && e.ts >= begin.ts);
		const until = end => tasks.filter(e => e.ts < end.ts).reduce((sum, e) => sum + (e.tdur ?? e.dur) / 1000, 0);
		if (i) paint.push(until(first));
		if (i) interactive.push(until(mark));
		await context.close();
	}
	return { paint: quantile(paint, 0.5), interactive: quantile(interactive, 0.5) };
}

/* Main-thread time from one drawing of the timeline to the next: of the clock and of the thread, in ms. */
function framesOf(trace) {
	const { traceEvents } = JSON.parse(trace);
	const begins = traceEvents.filter(e => e.name === 'FireAnimationFrame');
	const counts = new Map();
	for (const e of begins) counts.set(`${e.pid}.${e.tid}`, (counts.get(`${e.pid}.${e.tid}`) ?? 0) + 1);
	const [thread] = [...counts].sort((a, b) => b[1] - a[1])[0];
	const mine = e => `${e.pid}.${e.tid}` === thread;
	const starts = sorted(begins.filter(mine).map(e => e.ts));
	const tasks = traceEvents.filter(e => mine(e) && e.ph === 'X' && e.name === 'ThreadControllerImpl::RunTask');
	const frames = starts.map(() => ({ clock: 0, own: 0 }));
	let at = 0;
	for (const task of tasks.sort((a, b) => a.ts - b.ts)) {
		while (at + 1 < starts.length && task.ts + task.dur > starts[at + 1]) at++;
		if (task.ts + task.dur < starts[0]) continue;
		frames[at].clock += task.dur / 1000;
		frames[at].own += (task.tdur ?? task.dur) / 1000;
	}
	return frames;
}

async function zoom(page) {
	const stage = page.locator('#stage');
	await stage.scrollIntoViewIfNeeded();
	await page.waitForTimeout(500);
	const box = await stage.boundingBox();
	const categories = ['toplevel', 'devtools.timeline'];
	await browser.startTracing(page, { categories });
	await page.mouse.move(box.x + box.width * 0.4, box.y + 60);
	for (let i = 0; i < 120; i++) {
		await page.mouse.wheel(0, i % 60 < 30 ? -90 : 90);
		await page.waitForTimeout(16);
	}
	await page.mouse.wheel(0, -300);
	await page.mouse.down();
	for (let i = 0; i < 60; i++) await page.mouse.move(box.x + box.width * (0.4 + 0.2 * Math.sin(i / 8)), box.y + 60);
	await page.mouse.up();
	/* two fingers on a trackpad, never quite straight */
	await page.waitForTimeout(300);
	for (let i = 0; i < 60; i++) {
		await page.mouse.wheel(i < 30 ? 25 : -25, i % 5);
		await page.waitForTimeout(16);
	}
	return framesOf(String(await browser.stopTracing()));
}

const folder = await mkdtemp(path.join(os.tmpdir(), 'speed-')), line = path.join(folder, 'line.html');
await writeFile(line, "<!DOCTYPE html><title>line</title><p>One line.</p><script>performance.mark('gapline-interactive')</script>");
for (const report of reports) {
	console.log(path.basename(report));
	say('size', (await stat(report)).size / 1e6, LIMIT.size / 1e6, 'MB');
	const [bare, clock] = await load([line, report]), own = await ownTimes(report, 5);
	say("first paint, the thread's own time, median of 5", own.paint, LIMIT.paint, 'ms');
	say("interactive, the thread's own time, median of 5", own.interactive, LIMIT.interactive, 'ms');
	if (bare.paint <= QUIET) say(`first paint by the clock, median of ${ROUNDS}, of a quiet machine`, clock.paint, LIMIT.paint, 'ms');
	else say(`first paint by the clock, median of ${ROUNDS}, in those of a page of one line`, clock.paint / bare.paint, RATIO, 'times');
	console.log(`  by the clock: first paint ${clock.paint.toFixed(1)} ms, of the page of one line ${bare.paint.toFixed(1)} ms; interactive ${clock.interactive.toFixed(1)} ms`);
	const { page } = await open(report), frames = await zoom(page);
	say(`main thread's own time a frame while zooming and panning, 95th percentile of ${frames.length}`, quantile(frames.map(f => f.own), 0.95), LIMIT.frame, 'ms');
	console.log(`  by the clock: ${quantile(frames.map(f => f.clock), 0.95).toFixed(1)} ms; median ${quantile(frames.map(f => f.clock), 0.5).toFixed(1)} ms`);
	await page.context().close();
}
await browser.close();
await rm(folder, { recursive: true });
process.exit(failed ? 1 : 0);
