const { TRANSCRIPT_KEY, TRANSCRIPT_URL = "https://transcripts.example/v1" } = process.env;
const PATIENCE_MS = 8_000;

export class NoTranscript extends Error {}

/** Ask for the transcript of an episode; a failure is a NoTranscript with its cause. */
export async function transcriptOf(episode) {
  try {
    const answer = await fetch(`${TRANSCRIPT_URL}/episodes/${episode}`, {
      headers: { authorization: `Bearer ${TRANSCRIPT_KEY}` },
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    if (!answer.ok) throw new Error(`status ${answer.status}`);
    return await answer.text();
  } catch (cause) {
    throw new NoTranscript(`no transcript of ${episode}`, { cause });
  }
}
