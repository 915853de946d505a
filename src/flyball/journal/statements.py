"""Every statement the SQL journal makes, in plain SQL."""

FENCE = """
    SELECT (SELECT max(seq) FROM events WHERE task = tasks.id), (SELECT epoch FROM leases WHERE scope = ?)
    FROM tasks WHERE id = ?
"""
ADD_EVENT = """
    INSERT INTO events (task, seq, at, epoch, kind, effect, attempt, body, crc) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
READ_EVENTS = "SELECT CAST(body AS BLOB), crc FROM events WHERE task = ? AND seq > ? ORDER BY seq LIMIT ?"

READ_EVENTS_OF = """
    SELECT seq, CAST(body AS BLOB), crc FROM events
    WHERE task = ? AND seq > ? AND kind IN (SELECT value FROM json_each(?))
        AND (effect IS NULL OR (effect NOT GLOB 'turn/*' AND effect NOT GLOB '*measure/*'))
    ORDER BY seq LIMIT ?
"""

_TURNS_SINCE = """
    FROM tasks CROSS JOIN events ON events.task = tasks.id
    WHERE effect GLOB 'turn/*' AND seq > coalesce(
        (SELECT old.seq FROM events AS old WHERE old.task = tasks.id AND old.at < ? ORDER BY old.seq DESC LIMIT 1), 0)
"""
READ_TURNS_SINCE = f"SELECT tasks.id, seq, CAST(body AS BLOB), crc {_TURNS_SINCE} AND kind = 'effect.ended'"
COUNT_TURNS_UNDER_WAY = f"""SELECT count(*) {_TURNS_SINCE} AND kind = 'effect.begun' AND NOT EXISTS (
    SELECT 1 FROM events AS later WHERE later.task = tasks.id AND later.seq > events.seq
    AND later.kind = 'effect.ended' AND later.effect = events.effect)
"""

LAST_NUMBER = "SELECT coalesce(max(number), 0) FROM tasks"
ADD_TASK = "INSERT INTO tasks (id, number, workflow, title, opened_at) VALUES (?, ?, ?, ?, ?)"
READ_TASKS = "SELECT id, number, workflow, title, opened_at FROM tasks ORDER BY number"
FIND_TASK = "SELECT 1 FROM tasks WHERE id = ?"

ADD_WORD = "INSERT INTO inbox (task, word, text, question, at) VALUES (?, ?, ?, ?, ?) RETURNING id"
READ_WORDS = "SELECT id, word, text, question, at FROM inbox WHERE task = ? AND taken_seq IS NULL ORDER BY id"
TAKE_WORD = "UPDATE inbox SET taken_seq = ? WHERE id = ? AND task = ? AND taken_seq IS NULL"

TAKE_LEASE = """
    INSERT INTO leases (scope, epoch, holder, taken_at) VALUES (?, 1, ?, ?)
    ON CONFLICT (scope) DO UPDATE SET epoch = leases.epoch + 1, holder = excluded.holder, taken_at = excluded.taken_at
    RETURNING epoch
"""
READ_LEASE = "SELECT scope, epoch, holder FROM leases WHERE scope = ?"
