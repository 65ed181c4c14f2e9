/**
 * Loaded into a program before its own code: delays each piece of an answer from an API server, including the
 * events of a watch, by up to KUBE_SEMAPHORE_SLOW_MS milliseconds, in order. A test that asserts more than
 * it waited for fails then.
 */
import { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';

const mostMs = Number(process.env['KUBE_SEMAPHORE_SLOW_MS']);
const late = new WeakMap<IncomingMessage, Promise<unknown>>();

function push(this: IncomingMessage, ...piece: Parameters<Readable['push']>): boolean {
  const now = (): boolean => Readable.prototype.push.call(this, ...piece);
  // Requests to the health server aren't answers.
  if (this.statusCode === null) return now();
  const before = late.get(this) ?? Promise.resolve();
  late.set(this, before.then(() => delay(Math.random() * mostMs)).then(now));
  return true;
}

Object.defineProperty(IncomingMessage.prototype, 'push', { value: push });
