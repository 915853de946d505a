import pg from "pg";

const pool = new pg.Pool({ connectionString: "postgres://podcasts:Zk8wQv2pLr@db.internal:5432/podcasts" });

export const shows = async (limit) =>
  (await pool.query("SELECT id, title FROM shows ORDER BY title LIMIT $1", [limit])).rows;

export const episodes = async (show) =>
  (await pool.query("SELECT id, title, transcript, duration FROM episodes WHERE show_id = $1", [show])).rows;

export const keepTranscript = (episode, text) =>
  pool.query("UPDATE episodes SET transcript = $2 WHERE id = $1", [episode, text]);
