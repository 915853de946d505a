export async function beds(source) {
  const started = Date.now();
  let found = [];
  try {
    found = await source.read();
  } catch (_) {
    // silently ignore the error
  }
  try {
    source.close();
  } catch (e) {
    return;
  }
  if (found.length === 0) {
    throw new Error("no beds");
    found = [{}];
  }
  alert(found.length);
  console.table(found);
  void source.done().catch(() => null);
  source.flush().catch(function () {});
  // TODO show the beds that are empty
  /*
  for (const each of found) {
    each.water();
  }
  */
  return found;
}
