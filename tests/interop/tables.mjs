// tables.mjs NPM: answers requests, one JSON object a line, with one JSON object a line:
// {"file": F}     columns and rows of a Parquet file as DuckDB reads them; `differs`: how hyparquet or parquet-wasm, which share
//                 no code with it, read it otherwise, or null
// {"query": Q}    the rows of a query
// Integers are printed in full; doubles as the shortest text that is the same double.
import { createRequire } from "node:module";
import fs from "node:fs";
import path from "node:path";
import readline from "node:readline";
import { pathToFileURL } from "node:url";

const [npm] = process.argv.slice(2);
const require = createRequire(path.join(npm, "package.json"));
const load = name => import(pathToFileURL(require.resolve(name)).href);
const { DuckDBInstance } = await load("@duckdb/node-api");
const { parquetReadObjects, asyncBufferFromFile } = await load("hyparquet");
const { compressors } = await load("hyparquet-compressors");
const { readParquet } = require("parquet-wasm");
const { tableFromIPC, Type } = require("apache-arrow");
const connection = await (await DuckDBInstance.create(":memory:")).connect();

// JSON whose numbers may be bigints.
function json(value) {
    if (value === null || value === undefined)
        return "null";
    switch (typeof value) {
    case "bigint":
    case "boolean":
        return String(value);
    case "number":
        return Number.isFinite(value) ? String(value) : `"${value}"`;
    case "string":
        return JSON.stringify(value);
    }
    if (Array.isArray(value))
        return "[" + value.map(json).join(",") + "]";
    return "{" + Object.entries(value).map(([k, v]) => JSON.stringify(k) + ":" + json(v)).join(",") + "}";
}

// A value of DuckDB.
function plain(value) {
    if (value === null || typeof value !== "object")
        return value;
    if ("micros" in value)
        return value.micros;
    if ("items" in value)
        return value.items.map(plain);
    if ("entries" in value)
        return Object.fromEntries(Object.entries(value.entries).map(([k, v]) => [k, plain(v)]));
    throw new Error(`a value of another type: ${value}`);
}

async function duckdb(query) {
    const result = await connection.runAndReadAll(query);
    return { columns: result.columnNames(), rows: result.getRows().map(row => row.map(plain)) };
}

// Lists of hyparquet may be typed arrays.
const untyped = value => ArrayBuffer.isView(value) ? Array.from(value)
    : Array.isArray(value) ? value.map(untyped)
    : value && typeof value === "object" ? Object.fromEntries(Object.entries(value).map(([k, v]) => [k, untyped(v)])) : value;

async function hyparquet(file, columns) {
    const parsers = { timestampFromMicroseconds: micros => micros };
    const rows = await parquetReadObjects({ file: await asyncBufferFromFile(file), compressors, parsers });
    return rows.map(row => columns.map(c => untyped(row[c])));
}

// Item `i` of the Data `d` of Arrow; numbers as they are stored, since accessors round some.
function item(d, i) {
    if (!d.getValid(i))
        return null;
    switch (d.type.typeId) {
    case Type.List: {
        const items = [];
        for (let k = d.valueOffsets[i]; k < d.valueOffsets[i + 1]; k++)
            items.push(item(d.children[0], k));
        return items;
    }
    case Type.Struct:
        return Object.fromEntries(d.type.children.map((c, n) => [c.name, item(d.children[n], i)]));
    case Type.Bool:
        return (d.values[(d.offset + i) >> 3] >> ((d.offset + i) & 7) & 1) === 1;
    case Type.Utf8:
        return Buffer.from(d.values.subarray(d.valueOffsets[i], d.valueOffsets[i + 1])).toString();
    default:
        return d.values[i];
    }
}

function wasm(file, columns) {
    const table = tableFromIPC(readParquet(fs.readFileSync(file)).intoIPCStream()), rows = [];
    for (const batch of table.batches)
        for (let i = 0; i < batch.numRows; i++)
            rows.push(columns.map((c, n) => item(batch.data.children[n], i)));
    return rows;
}

// How the rows of another reader differ; null: not at all.
function compare(name, columns, rows, others) {
    if (rows.length !== others.length)
        return `${name}: ${others.length} rows, not ${rows.length}`;
    for (const [i, row] of rows.entries())
        for (const [k, column] of columns.entries())
            if (json(row[k]) !== json(others[i][k]))
                return `${name}: row ${i}, ${column}: ${json(others[i][k])}, not ${json(row[k])}`;
    return null;
}

async function answer(request) {
    if (request.query)
        return await duckdb(request.query);
    const { columns, rows } = await duckdb(`from read_parquet('${request.file.replaceAll("'", "''")}', hive_partitioning = false)`);
    const differs = compare("hyparquet", columns, rows, await hyparquet(request.file, columns)) ??
        compare("parquet-wasm", columns, rows, wasm(request.file, columns));
    return { columns, rows, differs };
}

for await (const line of readline.createInterface({ input: process.stdin }))
    console.log(json(await answer(JSON.parse(line)).catch(error => ({ error: String(error.stack) }))));
