import { expect, it } from 'vitest';
import { interruptAt, stopped } from '../demo-process.ts';

it.each([
  { name: 'while no replica leads', signal: 'SIGINT', text: 'kill -9' },
  { name: 'while an app restarts', signal: 'SIGINT', text: '15. One Service' },
  { name: 'while a cluster of a global Service is down', signal: 'SIGINT', text: 'only the pods of c1 are ready' },
] as const)('ends and leaves nothing when it is interrupted $name', async ({ signal, text }) => {
  expect(await interruptAt(text, signal)).toEqual(stopped);
});
