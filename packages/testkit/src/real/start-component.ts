import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { eventually } from '@kube-semaphore/eventually';
import type { Component } from './protocol.ts';
import type { Running, Supervision } from './supervision.ts';

const START_TIMEOUT_MS = 300_000;
const LOG_LINES = 20;

/** A component ended, or never answered. The message has the last lines of its log. */
export class ComponentError extends Error {
  readonly code = 'COMPONENT';
}

/**
 * Starts a component and waits until it answers.
 *
 * @param answers tells whether it does; a rejection counts as no
 * @throws {ComponentError} as soon as it has exited, or after a minute without an answer
 */
export async function startComponent(
  supervision: Supervision,
  component: Component,
  answers: () => Promise<boolean>,
): Promise<Running> {
  const running = supervision.spawn(component);
  let gone: string | undefined;
  void running.exited.then((reason) => (gone = reason));
  const probe = async () => {
    if (gone !== undefined) throw new Error(gone);
    return answers().catch(() => false);
  };
  try {
    await eventually(probe, true, { what: 'an answer', timeoutMs: START_TIMEOUT_MS, intervalMs: 10 });
    return running;
  } catch (error) {
    await running.kill();
    const log = await lastLines(component.log);
    throw new ComponentError(`${component.name}: ${(error as Error).message}\n${log}`);
  }
}

/** Whether somebody listens on a socket file. */
export function isListening(path: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect(path);
  socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
  return promise.finally(() => socket.destroy());
}

async function lastLines(log: string): Promise<string> {
  // No log means that it couldn't even be started; the reason then says it all.
  const text = await readFile(log, 'utf8').catch(() => '');
  return text.trimEnd().split('\n').slice(-LOG_LINES).join('\n');
}
