/**
 * The beds of a source.
 *
 * @example
 * const found = await beds(source);
 */
export async function beds(source, { onProblem } = {}) {
  let found = [];
  try {
    found = await source.read();
  } catch (problem) {
    onProblem?.(problem);
  }
  try {
    source.close();
  } catch {
    // A source that is closed already says so by throwing.
  }
  if (found.length === 0) {
    console.warn("there are no beds");
  }
  await source.done().catch((problem) => console.error(problem));
  source.flush().catch(() => {
    /* what is left is written by the next start */
  });
  return found;
}
