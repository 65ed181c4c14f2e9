import { expect, it } from 'vitest';
import { checkServers } from './check-servers.ts';

const faultsOf = (path: string, text: string) => checkServers({ folder: 'apps/policy' }, [{ path, text }]);

it.each([
  { name: 'a reason for a real server', path: 'test/real/a.test.ts', text: '// Real: etcd is restored.\n' },
  { name: 'a reason for both', path: 'test/both/a.test.ts', text: '// Both: the first sync.\n' },
  { name: 'no reason for an embedded server', path: 'test/a.test.ts', text: '' },
  { name: 'no reason in what tests share', path: 'test/real/server.ts', text: '' },
  { name: 'no reason for a folder of another kind', path: 'test/mcs/a.test.ts', text: '' },
])('accepts $name', ({ path, text }) => {
  expect(faultsOf(path, text)).toEqual([]);
});

it.each([
  { name: 'no reason', path: 'test/real/a.test.ts', text: "import { it } from 'vitest';\n", want: '// Real: …' },
  { name: 'the reason of the other kind', path: 'test/mcs/both/a.test.ts', text: '// Real: x\n', want: '// Both: …' },
])('refuses $name', ({ path, text, want }) => {
  expect(faultsOf(path, text)).toEqual([
    `apps/policy/${path}: the first line must say what it needs of a real server: "${want}"`,
  ]);
});
