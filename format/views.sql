-- Views for DuckDB over the tables that `perfile export --to parquet -o DIR` writes.
--
--     SET VARIABLE perfile = 'DIR';
--     .read views.sql
--
-- `perfile schema --format views` prints this file.  format/tables.md says what the tables are.

-- The tables.  Others are read in the same way.
CREATE OR REPLACE VIEW captures AS FROM read_parquet(getvariable('perfile') || '/captures/**/*.parquet', hive_partitioning = true, hive_types = {'host': VARCHAR, 'date': VARCHAR}, union_by_name = true);
CREATE OR REPLACE VIEW events AS FROM read_parquet(getvariable('perfile') || '/events/**/*.parquet', hive_partitioning = true, hive_types = {'host': VARCHAR, 'date': VARCHAR}, union_by_name = true);
CREATE OR REPLACE VIEW samples AS FROM read_parquet(getvariable('perfile') || '/samples/**/*.parquet', hive_partitioning = true, hive_types = {'host': VARCHAR, 'date': VARCHAR}, union_by_name = true);
CREATE OR REPLACE VIEW stacks AS FROM read_parquet(getvariable('perfile') || '/stacks/**/*.parquet', hive_partitioning = true, hive_types = {'host': VARCHAR, 'date': VARCHAR}, union_by_name = true);
CREATE OR REPLACE VIEW frames AS FROM read_parquet(getvariable('perfile') || '/frames/**/*.parquet', hive_partitioning = true, hive_types = {'host': VARCHAR, 'date': VARCHAR}, union_by_name = true);
CREATE OR REPLACE VIEW slices AS FROM read_parquet(getvariable('perfile') || '/slices/**/*.parquet', hive_partitioning = true, hive_types = {'host': VARCHAR, 'date': VARCHAR}, union_by_name = true);

-- flat: where samples were taken.
CREATE OR REPLACE VIEW flat AS
SELECT host, date, capture_id, event, comm, module, function,
       count(*) AS samples, sum(period)::BIGINT AS period
FROM samples
GROUP BY ALL;

-- total: functions that were running, or had called what was running.  A function counts once for a
-- sample, however often it is in its stack.  Samples without a stack count where they were taken.
CREATE OR REPLACE VIEW total AS
WITH distinct_frames AS (
    SELECT frame_id, any_value(module) AS module, any_value(function) AS function
    FROM frames GROUP BY frame_id
), distinct_stacks AS (
    SELECT stack_id, any_value(frames) AS frames FROM stacks GROUP BY stack_id
), functions AS (
    SELECT DISTINCT stack_id, module, function
    FROM (SELECT stack_id, unnest(frames) AS frame_id FROM distinct_stacks)
    JOIN distinct_frames USING (frame_id)
), sums AS (
    SELECT host, date, capture_id, event, comm, stack_id, count(*) AS samples, sum(period) AS period
    FROM samples WHERE stack_id IS NOT NULL GROUP BY ALL
)
SELECT host, date, capture_id, event, comm, module, function,
       sum(samples)::BIGINT AS samples, sum(period)::BIGINT AS period
FROM (SELECT host, date, capture_id, event, comm, module, function, samples, period
      FROM sums JOIN functions USING (stack_id)
      UNION ALL
      SELECT host, date, capture_id, event, comm, module, function, 1, period
      FROM samples WHERE stack_id IS NULL)
GROUP BY ALL;

-- What a function is called, else its file.
CREATE OR REPLACE MACRO called(function, module) AS
    coalesce(function, '[' || trim(parse_filename(module), '[]') || ']', '[unknown]');

-- folded: a row for each stack, as text for flame graphs: the name of the thread, then functions, the
-- outermost first.
CREATE OR REPLACE VIEW folded AS
WITH distinct_frames AS (
    SELECT frame_id, called(any_value(function), any_value(module)) AS name
    FROM frames GROUP BY frame_id
), distinct_stacks AS (
    SELECT stack_id, any_value(frames) AS frames FROM stacks GROUP BY stack_id
), texts AS (
    SELECT stack_id, string_agg(name, ';' ORDER BY place DESC) AS functions
    FROM (SELECT stack_id, unnest(frames) AS frame_id, generate_subscripts(frames, 1) AS place
          FROM distinct_stacks)
    JOIN distinct_frames USING (frame_id)
    GROUP BY stack_id
), sums AS (
    SELECT host, date, capture_id, event, comm, stack_id,
           if(stack_id IS NULL, called(function, module), NULL) AS leaf,
           count(*) AS samples, sum(period) AS period
    FROM samples GROUP BY ALL
)
SELECT host, date, capture_id, event,
       concat_ws(';', coalesce(comm, '[unknown]'), coalesce(functions, leaf)) AS stack,
       sum(samples)::BIGINT AS samples, sum(period)::BIGINT AS period
FROM sums LEFT JOIN texts USING (stack_id)
GROUP BY ALL;

-- per_second: `second` counts from the first record of the capture; `wall` is null where the relation
-- of its clock to UTC is not known.
CREATE OR REPLACE VIEW per_second AS
SELECT s.host, s.date, s.capture_id, s.event,
       (s.time - c.first_time) // 1000000000 AS second,
       min(s.wall) AS wall, count(*) AS samples, sum(s.period)::BIGINT AS period
FROM samples AS s
JOIN (SELECT capture_id, any_value(first_time) AS first_time FROM captures GROUP BY capture_id) AS c
     USING (capture_id)
GROUP BY ALL;

-- Times between two slices of a thread, with why the first one ended.
CREATE OR REPLACE VIEW between_slices AS
SELECT host, date, capture_id, cpu, pid, tid, comm, end_reason, start + duration AS left_at,
       lead(start) OVER (PARTITION BY capture_id, pid, tid ORDER BY start) - (start + duration) AS ns
FROM slices
WHERE tid > 0;

-- off_cpu: how long threads waited for something else than a processor.
CREATE OR REPLACE VIEW off_cpu AS
SELECT host, date, capture_id, pid, tid, comm, left_at, ns
FROM between_slices
WHERE end_reason = 'wait' AND ns IS NOT NULL;

-- switch_latency: how long threads that could have gone on waited for a processor.
CREATE OR REPLACE VIEW switch_latency AS
SELECT host, date, capture_id, cpu, pid, tid, comm, left_at, ns
FROM between_slices
WHERE end_reason = 'preempted' AND ns IS NOT NULL;
