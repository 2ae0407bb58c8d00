// Answers SQL with DuckDB: a line of JSON in, {sql, values}; a line out, {types, rows} or {error}.
import readline from 'node:readline';
import { DuckDBInstance } from '@duckdb/node-api';

const db = await (await DuckDBInstance.create(':memory:')).connect();
for await (const line of readline.createInterface({ input: process.stdin })) {
	const { sql, values } = JSON.parse(line);
	let answer;
	try {
		const read = await db.runAndReadAll(sql, values);
		answer = { types: read.columnTypes().map(String), rows: read.getRowsJson() };
	} catch (problem) {
		answer = { error: String(problem) };
	}
	process.stdout.write(`${JSON.stringify(answer)}\n`);
}
