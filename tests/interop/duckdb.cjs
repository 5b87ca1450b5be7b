// duckdb.cjs FILE ...: runs the SQL of the files in one DuckDB, of npm's @duckdb/node-api in $PERFILE_NPM; each row of an answer is a
// line, an array in JSON, and each answer is ended by the line "end".  `.read FILE` is a line of its own, as in the shell of DuckDB.
const fs = require("fs");
const { createRequire } = require("module");
const duckdb = createRequire(`${process.env.PERFILE_NPM}/node_modules/`)("@duckdb/node-api");

const text = file => fs.readFileSync(file, "utf8").replace(/^\.read (\S+)$/gm, (_, name) => text(name));

(async () => {
    const connection = await (await duckdb.DuckDBInstance.create(":memory:")).connect();
    for (const file of process.argv.slice(2)) {
        const statements = await connection.extractStatements(text(file));
        for (let i = 0; i < statements.count; i++) {
            const prepared = await statements.prepare(i);
            const rows = (await prepared.runAndReadAll()).getRowsJson();
            if (prepared.statementType !== duckdb.StatementType.SELECT)
                continue;
            for (const row of rows)
                console.log(JSON.stringify(row));
            console.log("end");
        }
    }
})().catch(e => {
    console.error(e.message);
    process.exit(1);
});
