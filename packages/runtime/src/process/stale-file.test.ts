import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '@kube-semaphore/eventually';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { watchForStaleness } from './stale-file.ts';

let dir: string;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'stale-'));
});

afterEach(() => rm(dir, { recursive: true }));

it('reports when the file changes, and when it is the same again', async () => {
  const path = join(dir, 'config.yaml');
  await writeFile(path, 'a');
  const reports: boolean[] = [];
  const aborter = new AbortController();
  const done = watchForStaleness(path, {
    content: 'a',
    intervalMs: 1,
    signal: aborter.signal,
    onStale: (isStale) => reports.push(isStale),
  });
  await writeFile(join(dir, 'next'), 'b');
  await rename(join(dir, 'next'), path);
  await eventually(() => reports, [true]);
  await rm(path);
  await writeFile(path, 'a');
  await eventually(() => reports, [true, false]);
  aborter.abort();
  await done;
});

it('ends at once when aborted', async () => {
  const aborter = new AbortController();
  const done = watchForStaleness(join(dir, 'none'), {
    content: '',
    signal: aborter.signal,
    onStale: () => expect.unreachable(),
  });
  aborter.abort();
  await done;
});
