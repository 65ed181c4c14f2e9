/** A label that no object has. */
const NOTHING = 'kube-semaphore.test/nothing-has-this-label';

/**
 * An empty list, or a watch that begins with one: asks the API server for objects with a label that
 * no object has. So kind, encoding and resourceVersion are right for any resource.
 */
export function targetOfNothing(target: string): string {
  const url = new URL(target, 'https://localhost');
  const selector = url.searchParams.get('labelSelector');
  url.searchParams.set('labelSelector', selector ? `${selector},${NOTHING}` : NOTHING);
  return url.pathname + url.search;
}

/**
 * A watch up to the end of its first event: in an empty WatchList, the bookmark that ends the list. To
 * continue the watch would hide later changes, too.
 */
export async function* firstEvent(watch: AsyncIterable<Uint8Array>, contentType: string): AsyncGenerator<Uint8Array> {
  const eventEnd = contentType.startsWith('application/json') ? lineEnd : frameEnd;
  let bytes = Buffer.alloc(0);
  for await (const chunk of watch) {
    bytes = Buffer.concat([bytes, chunk]);
    const end = eventEnd(bytes);
    if (end === undefined) continue;
    yield bytes.subarray(0, end);
    return;
  }
}

function lineEnd(bytes: Buffer): number | undefined {
  const newline = bytes.indexOf('\n');
  return newline === -1 ? undefined : newline + 1;
}

/** A protobuf event starts with its length, in 4 bytes. */
function frameEnd(bytes: Buffer): number | undefined {
  const end = bytes.length < 4 ? Infinity : 4 + bytes.readUInt32BE();
  return bytes.length < end ? undefined : end;
}
