import type { Socket } from 'node:net';
import { pipeline } from 'node:stream/promises';

/** Makes one connection of two. Either end that goes takes the other along. */
export async function join(one: Socket, other: Socket): Promise<void> {
  await Promise.allSettled([pipeline(one, other), pipeline(other, one)]);
}
