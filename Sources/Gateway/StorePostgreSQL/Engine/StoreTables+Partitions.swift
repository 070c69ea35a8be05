// SPDX-License-Identifier: Apache-2.0

/// Version 3: wakes and attempts in a partition for each day, so that old ones go by dropping a
/// table, which costs the same however many they are and leaves no dead rows.
///
/// A wake's number begins with the milliseconds of its acceptance, so a day is a range of numbers.
/// What belongs to no day's partition is in the default partition: numbers of a clock that was
/// wrong, of a day whose partition could not be made in time, and wakes that outlived their day.
/// From there rows are deleted one by one.
extension StoreTables {
    static let partitions = """
        -- Of large tables a fifth would be dead before anybody cleared up.
        ALTER TABLE rouse.device SET (autovacuum_vacuum_scale_factor = 0.05);
        ALTER TABLE rouse.idempotency SET (autovacuum_vacuum_scale_factor = 0.05);
        ALTER TABLE rouse.webhook SET (autovacuum_vacuum_scale_factor = 0.02);

        ALTER TABLE rouse.wake RENAME TO wake_before;
        ALTER INDEX rouse.wake_pkey RENAME TO wake_before_pkey;
        ALTER INDEX rouse.wake_place RENAME TO wake_before_place;
        ALTER INDEX rouse.wake_deadline RENAME TO wake_before_deadline;
        ALTER TABLE rouse.attempt RENAME TO attempt_before;
        ALTER INDEX rouse.attempt_pkey RENAME TO attempt_before_pkey;
        DROP VIEW rouse.wakes;

        CREATE TABLE rouse.wake (
            LIKE rouse.wake_before INCLUDING DEFAULTS, PRIMARY KEY (number)
        ) PARTITION BY RANGE (number);
        CREATE INDEX wake_place ON rouse.wake (place, at, number) WHERE place IS NOT NULL;
        CREATE INDEX wake_deadline ON rouse.wake (deadline, number) WHERE deadline IS NOT NULL;
        CREATE TABLE rouse.attempt (
            LIKE rouse.attempt_before INCLUDING DEFAULTS, PRIMARY KEY (wake, fence)
        ) PARTITION BY RANGE (wake);
        CREATE TABLE rouse.wake_default PARTITION OF rouse.wake DEFAULT \(wakeStorage);
        CREATE TABLE rouse.attempt_default PARTITION OF rouse.attempt DEFAULT;

        -- The first number of a day, which is counted from 1970 on.
        CREATE FUNCTION rouse.first_number(day bigint) RETURNS bigint
        LANGUAGE sql IMMUTABLE AS $$ SELECT (day * 86400000) << 12 $$;
        CREATE FUNCTION rouse.day_name(day bigint) RETURNS text
        LANGUAGE sql IMMUTABLE
        AS $$ SELECT to_char(date '1970-01-01' + day::integer, 'YYYYMMDD') $$;
        -- Makes the partitions of these days, but for days of which there are rows elsewhere.
        CREATE FUNCTION rouse.make_partitions(first_day bigint, last_day bigint) RETURNS void
        LANGUAGE plpgsql AS $$
        DECLARE
            name text;
            bounds text;
        BEGIN
            FOR day IN first_day..last_day LOOP
                name := rouse.day_name(day);
                CONTINUE WHEN to_regclass('rouse.wake_' || name) IS NOT NULL;
                bounds := format(
                    'FOR VALUES FROM (%s) TO (%s)', rouse.first_number(day),
                    rouse.first_number(day + 1));
                BEGIN
                    EXECUTE format(
                        'CREATE TABLE rouse.%I PARTITION OF rouse.wake %s \(wakeStorage)',
                        'wake_' || name, bounds);
                    EXECUTE format(
                        'CREATE TABLE rouse.%I PARTITION OF rouse.attempt %s',
                        'attempt_' || name, bounds);
                EXCEPTION WHEN check_violation OR invalid_object_definition THEN NULL;
                END;
            END LOOP;
        END $$;

        -- The rows that are there already become one partition, that of all days until tomorrow.
        DO $before$
        DECLARE
            today bigint := floor(extract(epoch FROM clock_timestamp()) / 86400);
            bound bigint := rouse.first_number(today + 1);
            name text := 'until_' || rouse.day_name(today + 1);
        BEGIN
            IF EXISTS (SELECT 1 FROM rouse.wake_before)
                OR EXISTS (SELECT 1 FROM rouse.attempt_before)
            THEN
                WITH ahead AS (DELETE FROM rouse.wake_before WHERE number >= bound RETURNING *)
                INSERT INTO rouse.wake_default SELECT * FROM ahead;
                WITH ahead AS (DELETE FROM rouse.attempt_before WHERE wake >= bound RETURNING *)
                INSERT INTO rouse.attempt_default SELECT * FROM ahead;
                EXECUTE format('ALTER TABLE rouse.wake_before RENAME TO %I', 'wake_' || name);
                EXECUTE format('ALTER TABLE rouse.attempt_before RENAME TO %I', 'attempt_' || name);
                EXECUTE format(
                    'ALTER TABLE rouse.wake ATTACH PARTITION rouse.%I '
                        'FOR VALUES FROM (MINVALUE) TO (%s)', 'wake_' || name, bound);
                EXECUTE format(
                    'ALTER TABLE rouse.attempt ATTACH PARTITION rouse.%I '
                        'FOR VALUES FROM (MINVALUE) TO (%s)', 'attempt_' || name, bound);
            ELSE
                DROP TABLE rouse.wake_before, rouse.attempt_before;
            END IF;
            PERFORM rouse.make_partitions(today, today + \(PartitionPlan.daysAhead));
        END $before$;

        \(wakesView)
        """

    private static let wakeStorage = """
        WITH (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.02, \
        autovacuum_vacuum_insert_scale_factor = 0.05)
        """
}
