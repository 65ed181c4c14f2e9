// Real: none, but it takes ten seconds of CPU, so it is no part of npm test.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

const program = fileURLToPath(new URL('size-owner.ts', import.meta.url));

describe('20,000 pods of 15 kB', () => {
  it('take at most twice their bytes while they are listed', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [program]);
    const { received, maxRss } = JSON.parse(stdout) as { received: number; maxRss: number };
    expect(received).toBeGreaterThan(20_000 * 11_000);
    const ownBytes = 100e6; // Node.js with the embedded server's code, before it has a pod
    expect(maxRss - ownBytes).toBeLessThan(2 * received);
  });
});
