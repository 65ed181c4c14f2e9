import { expect, it } from 'vitest';
import { exportText, leaveCommands, type Result } from './page.ts';

const at = { namespace: 'shop', name: 'web' };

it.each([
  { selector: 'team/global=true', command: 'label service web team/global-' },
  { selector: ' global ,a=b', command: 'label service web global-' },
  { selector: 'global in (a,b)', command: 'edit service web' },
  { selector: '!local', command: 'edit service web' },
])('a Service leaves the selector $selector by $command', ({ selector, command }) => {
  expect(leaveCommands(at, { contexts: ['c1'], selector })).toEqual([`kubectl --context c1 -n shop ${command}`]);
});

it('escapes what another cluster wrote', () => {
  const result: Result = {
    namespace: 'shop',
    name: 'w\u001b[2J',
    clusters: [{ cluster: 'c1', export: 'created', import: null, problems: ['\u001b[2J'] }],
    next: ['\u001b[2J'],
  };
  expect(exportText([result], (_, text) => text)).not.toContain('\u001b');
});
