-- Views for ClickHouse over the tables of `perfile schema --format sql --dialect clickhouse`, filled with
-- what `perfile export --to parquet` writes.
--
-- `perfile schema --format views --dialect clickhouse` prints this file.  format/tables.md says what the
-- tables are, and how a cluster asks all of its servers.  No newer function is used than those of
-- ClickHouse 18.16.

-- hosts: of each capture.
CREATE VIEW IF NOT EXISTS hosts AS
SELECT capture_id, any(host) AS host, toDate(any(captured_at)) AS date, any(first_time) AS first_time
FROM captures
GROUP BY capture_id;

-- flat: where samples were taken.
CREATE VIEW IF NOT EXISTS flat AS
SELECT host, date, capture_id, event, comm, module, function, n AS samples, weight AS period
FROM (
    SELECT capture_id, event, comm, module, function, count() AS n, sum(period) AS weight
    FROM samples
    GROUP BY capture_id, event, comm, module, function
) ANY LEFT JOIN hosts USING capture_id;

-- total: functions that were running, or had called what was running.  A function counts once for a
-- sample, however often it is in its stack.  Samples without a stack count where they were taken.
CREATE VIEW IF NOT EXISTS functions_of_stacks AS
SELECT DISTINCT stack_id, module, function
FROM (
    SELECT stack_id, frame_id
    FROM (SELECT stack_id, any(frames) AS list FROM stacks GROUP BY stack_id)
    ARRAY JOIN list AS frame_id
) ANY LEFT JOIN (
    SELECT frame_id, any(module) AS module, any(function) AS function FROM frames GROUP BY frame_id
) USING frame_id;

CREATE VIEW IF NOT EXISTS total AS
SELECT host, date, capture_id, event, comm, module, function, n AS samples, weight AS period
FROM (
    SELECT capture_id, event, comm, module, function, sum(n_of_stack) AS n, sum(weight_of_stack) AS weight
    FROM (
        SELECT capture_id, event, comm, module, function, n_of_stack, weight_of_stack
        FROM (
            SELECT capture_id, event, comm, assumeNotNull(stack) AS stack_id,
                   count() AS n_of_stack, sum(period) AS weight_of_stack
            FROM (SELECT capture_id, event, comm, stack_id AS stack, period FROM samples WHERE stack_id IS NOT NULL)
            GROUP BY capture_id, event, comm, stack
        ) ALL INNER JOIN functions_of_stacks USING stack_id
        UNION ALL
        SELECT capture_id, event, comm, module, function, count() AS n_of_stack, sum(period) AS weight_of_stack
        FROM samples
        WHERE stack_id IS NULL
        GROUP BY capture_id, event, comm, module, function
    )
    GROUP BY capture_id, event, comm, module, function
) ANY LEFT JOIN hosts USING capture_id;

-- folded: a row for each stack, as text for flame graphs: the name of the thread, then functions, the
-- outermost first.
CREATE VIEW IF NOT EXISTS texts_of_stacks AS
SELECT stack_id, arrayStringConcat(arrayMap(x -> x.2, arraySort(x -> -x.1, groupArray((place, name)))), ';') AS functions
FROM (
    SELECT stack_id, frame_id, place
    FROM (SELECT stack_id, any(frames) AS list FROM stacks GROUP BY stack_id)
    ARRAY JOIN list AS frame_id, arrayEnumerate(list) AS place
) ANY LEFT JOIN (
    SELECT frame_id, assumeNotNull(ifNull(any(function), concat('[', replaceRegexpAll(ifNull(any(module), 'unknown'), '^.*/|^\\[|\\]$', ''), ']'))) AS name
    FROM frames GROUP BY frame_id
) USING frame_id
GROUP BY stack_id;

CREATE VIEW IF NOT EXISTS folded AS
SELECT host, date, capture_id, event, stack, n AS samples, weight AS period
FROM (
    SELECT capture_id, event, concat(assumeNotNull(ifNull(comm, '[unknown]')), ';', functions) AS stack,
           sum(n_of_stack) AS n, sum(weight_of_stack) AS weight
    FROM (
        SELECT capture_id, event, comm, functions, n_of_stack, weight_of_stack
        FROM (
            SELECT capture_id, event, comm, assumeNotNull(stack) AS stack_id,
                   count() AS n_of_stack, sum(period) AS weight_of_stack
            FROM (SELECT capture_id, event, comm, stack_id AS stack, period FROM samples WHERE stack_id IS NOT NULL)
            GROUP BY capture_id, event, comm, stack
        ) ANY LEFT JOIN texts_of_stacks USING stack_id
        UNION ALL
        SELECT capture_id, event, comm,
               assumeNotNull(ifNull(function, concat('[', replaceRegexpAll(ifNull(module, 'unknown'), '^.*/|^\\[|\\]$', ''), ']'))) AS functions,
               count() AS n_of_stack, sum(period) AS weight_of_stack
        FROM samples
        WHERE stack_id IS NULL
        GROUP BY capture_id, event, comm, functions
    )
    GROUP BY capture_id, event, stack
) ANY LEFT JOIN hosts USING capture_id;

-- per_second: `second` counts from the first record of the capture; `wall` is null where the relation
-- of its clock to UTC is not known.
CREATE VIEW IF NOT EXISTS per_second AS
SELECT host, date, capture_id, event, intDiv(time - first_time, 1000000000) AS second,
       min(wall_time) AS wall, count() AS samples, sum(weight) AS period
FROM (SELECT capture_id, event, time, wall AS wall_time, period AS weight FROM samples)
ANY LEFT JOIN hosts USING capture_id
GROUP BY host, date, capture_id, event, second;

-- Times between two slices of a thread, with why the first one ended.
CREATE VIEW IF NOT EXISTS between_slices AS
SELECT host, date, capture_id, cpu, pid, tid, comm, end_reason, left_at, ns
FROM (
    SELECT capture_id, before.3 AS cpu, pid, tid, before.4 AS comm, before.5 AS end_reason,
           before.1 + before.2 AS left_at, after.1 - (before.1 + before.2) AS ns
    FROM (
        SELECT capture_id, pid, tid,
               arraySort(x -> x.1, groupArray((assumeNotNull(start), assumeNotNull(duration), ifNull(cpu, -1),
                                               ifNull(comm, ''), ifNull(end_reason, '')))) AS list
        FROM slices
        WHERE tid > 0
        GROUP BY capture_id, pid, tid
    )
    ARRAY JOIN arrayPopBack(list) AS before, arrayPopFront(list) AS after
) ANY LEFT JOIN hosts USING capture_id;

-- off_cpu: how long threads waited for something else than a processor.
CREATE VIEW IF NOT EXISTS off_cpu AS
SELECT host, date, capture_id, pid, tid, comm, left_at, ns
FROM between_slices
WHERE end_reason = 'wait';

-- switch_latency: how long threads that could have gone on waited for a processor.
CREATE VIEW IF NOT EXISTS switch_latency AS
SELECT host, date, capture_id, cpu, pid, tid, comm, left_at, ns
FROM between_slices
WHERE end_reason = 'preempted';
