import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

const program = fileURLToPath(new URL('size-owner.ts', import.meta.url));

// Ten seconds of a core for the embedded server: left to the suite that takes minutes anyway.
describe('20,000 pods of 15 kB', () => {
  it('fit in 500 MB while they are listed', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [program]);
    const { received, maxRssMb } = JSON.parse(stdout) as { received: number; maxRssMb: number };
    expect(received).toBeGreaterThan(20_000 * 11_000);
    expect(maxRssMb).toBeLessThan(500);
  });
});
