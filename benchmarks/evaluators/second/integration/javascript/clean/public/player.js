/** Show the episodes of a show; what goes wrong is told in the page. */
export async function showEpisodes(show, list, notice) {
  try {
    const answer = await fetch(`/api/shows/${show}/episodes`, { signal: AbortSignal.timeout(5000) });
    if (!answer.ok) throw new Error(`status ${answer.status}`);
    list.replaceChildren(...(await answer.json()).map(({ title }) => Object.assign(document.createElement("li"), { textContent: title })));
  } catch (error) {
    notice.textContent = `The episodes could not be loaded (${error.message}). Try again.`;
  }
}
