// parquet.mjs NPM FOLDER: reads each NAME.parquet of the folder with three readers that share no code, and compares every
// value with those of NAME.jsonl: in the first line the columns, in each other one a row, as test_parquet.c writes them.
import { createRequire } from "node:module";
import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

const [npm, folder] = process.argv.slice(2);
const require = createRequire(path.join(npm, "package.json"));
const load = name => import(pathToFileURL(require.resolve(name)).href);

// Values as in the JSON: null, lists, structures as lists of their members, everything else as text.
const bits = new DataView(new ArrayBuffer(8));
function scalar(type, value) {
    if (value === null || value === undefined)
        return null;
    if (type !== "F64")
        return String(value);
    if (Number.isNaN(value))
        return "nan";
    bits.setFloat64(0, value);
    return bits.getBigUint64(0).toString(16).padStart(16, "0");
}

// Columns with their members: [{ name, type, members }].
function columns_of(header) {
    const columns = [];
    for (const [name, type, member] of header)
        (member ? columns.at(-1).members : columns).push({ name, type, members: [] });
    return columns;
}

const present = value => value !== null && value !== undefined;
const structure = (column, value, one) =>
    present(value) ? column.members.map(m => one(m, value[m.name])) : null;

// DuckDB.
async function duckdb() {
    const { DuckDBInstance } = await load("@duckdb/node-api");
    const connection = await (await DuckDBInstance.create(":memory:")).connect();
    const one = (column, value) => {
        if (!present(value))
            return null;
        switch (column.type) {
        case "TEXTS":
        case "I64S":
            return value.items.map(x => scalar(column.type, x));
        case "LIST":
            return value.items.map(x => structure(column, x?.entries, one));
        case "GROUP":
            return structure(column, value.entries, one);
        case "WALL":
            return scalar(column.type, value.micros);
        default:
            return scalar(column.type, value);
        }
    };
    return async (file, columns) => {
        const result = await connection.runAndReadAll(`select * from read_parquet('${file}')`);
        const types = result.columnTypes().map(String);
        return { types, rows: result.getRows().map(row => columns.map((c, i) => one(c, row[i]))) };
    };
}

// hyparquet.
async function hyparquet() {
    const { parquetReadObjects, asyncBufferFromFile } = await load("hyparquet");
    const { compressors } = await load("hyparquet-compressors");
    const parsers = { timestampFromMicroseconds: micros => micros };
    const one = (column, value) => {
        if (!present(value))
            return null;
        switch (column.type) {
        case "TEXTS":
        case "I64S":
            return Array.from(value, x => scalar(column.type, x));
        case "LIST":
            return Array.from(value, x => structure(column, x, one));
        case "GROUP":
            return structure(column, value, one);
        default:
            return scalar(column.type, value);
        }
    };
    return async (file, columns) => {
        const rows = await parquetReadObjects({ file: await asyncBufferFromFile(file), compressors, parsers });
        return { rows: rows.map(row => columns.map(c => one(c, row[c.name]))) };
    };
}

// parquet-wasm (the Rust implementation) into apache-arrow.
async function wasm() {
    const { readParquet } = require("parquet-wasm");
    const { tableFromIPC } = require("apache-arrow");
    // Item `i` of the Data `d` of Arrow; numbers as they are stored, since accessors round some.
    const one = (column, d, i) => {
        if (!d.getValid(i))
            return null;
        const list = () => {
            const items = [];
            for (let k = d.valueOffsets[i]; k < d.valueOffsets[i + 1]; k++)
                items.push(k);
            return items;
        };
        switch (column.type) {
        case "TEXTS":
            return list().map(k => one({ type: "TEXT" }, d.children[0], k));
        case "I64S":
            return list().map(k => one({ type: "I64" }, d.children[0], k));
        case "LIST":
            return list().map(k => one({ type: "GROUP", members: column.members }, d.children[0], k));
        case "GROUP":
            return column.members.map((m, n) => one(m, d.children[n], i));
        case "BOOL":
            return scalar(column.type, (d.values[(d.offset + i) >> 3] >> ((d.offset + i) & 7) & 1) === 1);
        case "TEXT":
            return Buffer.from(d.values.subarray(Number(d.valueOffsets[i]), Number(d.valueOffsets[i + 1]))).toString();
        default:
            return scalar(column.type, d.values[i]);
        }
    };
    return async (file, columns) => {
        const table = tableFromIPC(readParquet(fs.readFileSync(file)).intoIPCStream());
        const rows = [];
        for (const batch of table.batches)
            for (let i = 0; i < batch.numRows; i++)
                rows.push(columns.map((c, n) => one(c, batch.data.children[n], i)));
        return { rows, types: table.schema.fields.map(f => String(f.type)) };
    };
}

const readers = { duckdb: await duckdb(), hyparquet: await hyparquet(), "parquet-wasm": await wasm() };
let values = 0, files = 0, bad = 0;
for (const file of fs.readdirSync(folder).filter(f => f.endsWith(".parquet")).sort()) {
    const lines = fs.readFileSync(path.join(folder, file.replace(/parquet$/, "jsonl")), "utf8").trimEnd().split("\n");
    const columns = columns_of(JSON.parse(lines[0]));
    files++;
    for (const [name, read] of Object.entries(readers)) {
        let got;
        try {
            got = (await read(path.join(folder, file), columns)).rows;
        } catch (error) {
            console.log(`${file}: ${name}: ${error.stack}`);
            bad++;
            continue;
        }
        if (got.length !== lines.length - 1) {
            console.log(`${file}: ${name} reads ${got.length} rows, not ${lines.length - 1}`);
            bad++;
            continue;
        }
        for (let i = 0; i < got.length; i++) {
            const want = JSON.parse(lines[i + 1]);
            const c = columns.findIndex((_, k) => JSON.stringify(want[k]) !== JSON.stringify(got[i][k]));
            if (c >= 0) {
                console.log(`${file}: row ${i}, ${columns[c].name}: ${name} reads ${JSON.stringify(got[i][c])}, ` +
                    `not ${JSON.stringify(want[c])}`);
                bad++;
                break;
            }
            values += columns.length;
        }
    }
}
console.log(`${files} files, ${values} values compared, ${bad} differ`);
process.exit(bad || !values ? 1 : 0);
