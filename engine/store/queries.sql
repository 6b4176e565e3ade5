-- SPDX-License-Identifier: MIT
-- The example queries of data/doc/store.md, each after a line of two dashes and its title.

-- The ten runs with the lowest validation loss
SELECT substr (run.uuid, 1, 8) AS run, experiment.name, run.device, run.last_step AS steps,
       coalesce (run.eval_loss, run.last_loss) AS best,
       datetime (run.started / 1e6, 'unixepoch') AS begun
FROM run JOIN experiment ON experiment.id = run.experiment
WHERE run.kind = 'train' AND run.last_loss IS NOT NULL
ORDER BY best LIMIT 10;

-- The time of each group of the newest profile, with its fusion and the bytes per second
SELECT timing.pass, timing."group",
       CASE WHEN timing.pass = 'update' THEN 'update'
            ELSE coalesce (fusion.fusion, 'unfused') END AS fusion,
       fusion.first_op, fusion.count, round (timing.microseconds, 2) AS microseconds,
       round (timing.bytes / timing.microseconds / 1e3, 1) AS gigabytes_per_second
FROM timing LEFT JOIN fusion USING (run, pass, "group")
WHERE timing.run = (SELECT max (id) FROM run WHERE kind = 'profile')
ORDER BY timing.pass, timing."group";

-- The fusions that were rejected most often although their pattern matches, and why
SELECT fusion, reason, count (*) AS times, count (DISTINCT run) AS runs, min (text) AS example
FROM verdict WHERE NOT taken AND reason != 'pattern'
GROUP BY fusion, reason ORDER BY times DESC, fusion LIMIT 20;
