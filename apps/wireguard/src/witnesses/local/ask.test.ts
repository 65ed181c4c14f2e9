import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';

/** Opens files until there is no more room, then asks. */
const PROGRAM = `
import { openSync } from 'node:fs';
import { ask } from ${JSON.stringify(new URL('ask.ts', import.meta.url).href)};
try { for (;;) openSync('/dev/null'); } catch {}
await ask(['127.0.0.1', '::1']);
process.exit(7);
`;

it('ends where no socket can be opened', () => {
  const command = 'ulimit -n 64 && exec "$0" --input-type=module --eval "$1"';
  const { status, stderr } = spawnSync('sh', ['-c', command, process.execPath, PROGRAM], { encoding: 'utf8' });
  // 13: the program waits for what never comes.
  expect({ status, stderr }).toEqual({ status: 7, stderr: '' });
});
