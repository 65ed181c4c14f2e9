/**
 * Loaded into a program before its own code: each piece of an answer that it gets, the body of a write's as well as the
 * events of a watch, reaches it up to KUBE_SEMAPHORE_SLOW_MS milliseconds late, and in order. A test that believes more to
 * be so than it waited for is red then.
 */
import { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';

const mostMs = Number(process.env['KUBE_SEMAPHORE_SLOW_MS']);
const late = new WeakMap<IncomingMessage, Promise<unknown>>();

function push(this: IncomingMessage, ...piece: Parameters<Readable['push']>): boolean {
  const now = (): boolean => Readable.prototype.push.call(this, ...piece);
  // What the health server is asked isn't an answer.
  if (this.statusCode === null) return now();
  const before = late.get(this) ?? Promise.resolve();
  late.set(this, before.then(() => delay(Math.random() * mostMs)).then(now));
  return true;
}

Object.defineProperty(IncomingMessage.prototype, 'push', { value: push });
