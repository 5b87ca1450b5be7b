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

function double(text) {
    if (text === "nan")
        return NaN;
    bits.setBigUint64(0, BigInt("0x" + text));
    return bits.getFloat64(0);
}

// The order of values of a type.
const numbers = (a, b) => (BigInt(a) < BigInt(b) ? -1 : BigInt(a) > BigInt(b) ? 1 : 0);
const texts = (a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b));
const order = {
    BOOL: (a, b) => (a > b) - (a < b), I32: numbers, I64: numbers, U64: numbers, WALL: numbers, I64S: numbers,
    F64: (a, b) => double(a) - double(b), TEXT: texts, TEXTS: texts
};

// Columns that hold values: what they are called, their type, and their entries in a row, null for what is not there.
function leaves(columns) {
    const all = [];
    const entries = list => (list === null || !list.length ? [null] : list);
    for (const [i, c] of columns.entries()) {
        if (c.type === "GROUP")
            c.members.forEach((m, k) => all.push({ name: `${c.name}.${m.name}`, type: m.type, of: row => [row[i] && row[i][k]] }));
        else if (c.type === "LIST")
            c.members.forEach((m, k) => all.push({ name: `${c.name}.${m.name}`, type: m.type, of: row => entries(row[i]).map(x => x && x[k]) }));
        else if (c.type === "TEXTS" || c.type === "I64S")
            all.push({ name: c.name, type: c.type, of: row => entries(row[i]) });
        else
            all.push({ name: c.name, type: c.type, of: row => [row[i]] });
    }
    return all;
}

// How the metadata of a column differ from its rows; null: not at all.
function differs(leaf, metadata, rows) {
    const entries = rows.flatMap(leaf.of), there = entries.filter(x => x !== null), s = metadata.statistics;
    if (Number(metadata.num_values) !== entries.length)
        return `${metadata.num_values} values, not ${entries.length}`;
    if (Number(s.null_count) !== entries.length - there.length)
        return `${s.null_count} nulls, not ${entries.length - there.length}`;
    const sorted = there.sort(order[leaf.type]), least = sorted[0], greatest = sorted.at(-1);
    const is_text = leaf.type === "TEXT" || leaf.type === "TEXTS";
    const unbounded = !there.length || there.includes("nan") ||
        (is_text && [least, greatest].some(x => Buffer.byteLength(x) > 64));
    const same = (value, want) => leaf.type === "F64" ? value === double(want)
        : String(leaf.type === "U64" ? BigInt.asUintN(64, value) : value) === want;
    for (const [value, want, old] of [[s.min_value, least, s.min], [s.max_value, greatest, s.max]]) {
        if (unbounded ? value !== undefined : !same(value, want))
            return `bound ${value}, not ${want}`;
        if (unbounded || is_text || leaf.type === "U64" || leaf.type === "BOOL" ? old !== undefined : !same(old, want))
            return `old bound ${old}, not ${want}`;
    }
    return null;
}

// Each reader: { read(file, columns), and what else it can tell of the file }.

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
    const select = async query => (await connection.runAndReadAll(query)).getRows();
    const read = async (file, columns) =>
        (await select(`select * from read_parquet('${file}')`)).map(row => columns.map((c, i) => one(c, row[i])));

    // How many rows have the first, the last, the least and the greatest value of a column, as DuckDB finds when it
    // leaves out row groups whose statistics rule them out; it differs from the rows: what it says.
    const types = { BOOL: "BOOLEAN", I32: "INTEGER", I64: "BIGINT", U64: "UBIGINT", F64: "DOUBLE", TEXT: "VARCHAR" };
    const find = async (file, columns, rows) => {
        const queries = [], counts = [];
        for (const [i, column] of columns.entries()) {
            const there = rows.map(row => row[i]).filter(x => x !== null);
            if (!(column.type in types) || !there.length)
                continue;
            const of = new Map();
            there.forEach(x => of.set(x, (of.get(x) ?? 0) + 1));
            const sorted = [...of.keys()].filter(x => x !== "nan").sort(order[column.type]);
            for (const x of new Set([there[0], there.at(-1), sorted[0], sorted.at(-1)].filter(x => x !== undefined))) {
                const literal = column.type === "F64" ? String(double(x)) : x.replaceAll("'", "''");
                queries.push(`select count(*) from read_parquet('${file}') where "${column.name}" = '${literal}'::${types[column.type]}`);
                // Zeros of both signs are equal.
                counts.push(column.type === "F64" && double(x) === 0 ? there.filter(y => double(y) === 0).length : of.get(x));
            }
        }
        if (!queries.length)
            return null;
        const got = (await select(queries.map((q, i) => `select ${i}, (${q})`).join(" union all ") + " order by 1")).map(row => Number(row[1]));
        const k = counts.findIndex((n, i) => n !== got[i]);
        return k < 0 ? null : `${queries[k]}: ${got[k]}, not ${counts[k]}`;
    };
    return { read, find };
}

// hyparquet.
async function hyparquet() {
    const { parquetReadObjects, parquetMetadataAsync, asyncBufferFromFile } = await load("hyparquet");
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
    const read = async (file, columns) => {
        const rows = await parquetReadObjects({ file: await asyncBufferFromFile(file), compressors, parsers });
        return rows.map(row => columns.map(c => one(c, row[c.name])));
    };

    // What the footer says of each column of each row group, against the rows: what is wrong.
    const check = async (file, columns, rows) => {
        const metadata = await parquetMetadataAsync(await asyncBufferFromFile(file), { parsers });
        let row = 0;
        for (const [g, group] of metadata.row_groups.entries()) {
            const some = rows.slice(row, row += Number(group.num_rows));
            let at = 0;
            for (const leaf of leaves(columns)) {
                const wrong = differs(leaf, group.columns[at++].meta_data, some);
                if (wrong)
                    return `row group ${g}, ${leaf.name}: ${wrong}`;
            }
        }
        return row === rows.length ? null : `${row} rows`;
    };
    return { read, check };
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
    const read = async (file, columns) => {
        const table = tableFromIPC(readParquet(fs.readFileSync(file)).intoIPCStream());
        const rows = [];
        for (const batch of table.batches)
            for (let i = 0; i < batch.numRows; i++)
                rows.push(columns.map((c, n) => one(c, batch.data.children[n], i)));
        return rows;
    };
    return { read };
}

const readers = { duckdb: await duckdb(), hyparquet: await hyparquet(), "parquet-wasm": await wasm() };

// How what a reader reads differs from the rows; null: not at all.
async function compare(reader, file, columns, rows) {
    const got = await reader.read(file, columns);
    if (got.length !== rows.length)
        return `${got.length} rows, not ${rows.length}`;
    for (const [i, row] of rows.entries()) {
        const c = columns.findIndex((_, k) => JSON.stringify(row[k]) !== JSON.stringify(got[i][k]));
        if (c >= 0)
            return `row ${i}, ${columns[c].name}: ${JSON.stringify(got[i][c])}, not ${JSON.stringify(row[c])}`;
    }
    return await reader.check?.(file, columns, rows) ?? await reader.find?.(file, columns, rows) ?? null;
}

let values = 0, files = 0, bad = 0;
for (const name of fs.readdirSync(folder).filter(f => f.endsWith(".parquet")).sort()) {
    const file = path.join(folder, name);
    const [header, ...rows] =
        fs.readFileSync(file.replace(/parquet$/, "jsonl"), "utf8").trimEnd().split("\n").map(line => JSON.parse(line));
    const columns = columns_of(header);
    files++;
    for (const [reader, functions] of Object.entries(readers)) {
        const wrong = await compare(functions, file, columns, rows).catch(error => error.stack);
        if (wrong)
            console.log(`${name}: ${reader}: ${wrong}`);
        bad += wrong !== null;
        values += columns.length * rows.length;
    }
}
console.log(`${files} files, ${values} values compared, ${bad} differ`);
process.exit(bad || !values ? 1 : 0);
