import type { ServerResponse } from 'node:http';

/** Small chunks are joined up to this size: a TLS record for each event would cost more than the events. */
const BATCH_BYTES = 64 * 1024;

/**
 * Writes chunks as fast as the client reads them, so a slow client costs no memory. Resolves early, without
 * an error, when the connection is gone.
 */
export async function send(response: ServerResponse, chunks: Iterable<Uint8Array>): Promise<void> {
  let batch: Uint8Array[] = [];
  let bytes = 0;
  for (const chunk of chunks) {
    batch.push(chunk);
    bytes += chunk.length;
    if (bytes < BATCH_BYTES) continue;
    await write(response, batch);
    if (response.destroyed) return;
    batch = [];
    bytes = 0;
  }
  if (bytes > 0) await write(response, batch);
}

async function write(response: ServerResponse, batch: readonly Uint8Array[]): Promise<void> {
  if (response.destroyed || response.write(Buffer.concat(batch))) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  response.once('drain', resolve).once('close', resolve);
  await promise;
  response.off('drain', resolve).off('close', resolve);
}
