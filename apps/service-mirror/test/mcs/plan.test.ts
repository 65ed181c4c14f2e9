import { eventually } from '@kube-semaphore/eventually';
import { describe, expect, test } from 'vitest';
import { type SetMember, startSet } from '../support/mcs/cluster-set.ts';

const it = test
  .extend('names', { scope: 'file' }, ['c1', 'c2'])
  .extend('set', { scope: 'file' }, async ({ names }, { onCleanup }) => {
    const set = await startSet({ names });
    onCleanup(() => set.stop());
    return set;
  })
  .extend('c1', { scope: 'file' }, ({ set }): SetMember => set.members[0]!)
  .extend('c2', { scope: 'file' }, ({ set }): SetMember => set.members[1]!);

type Json = {
  readonly changes: readonly {
    readonly change: string;
    readonly kind: string;
    readonly namespace: string;
    readonly to?: object;
  }[];
  readonly exports: readonly object[];
};

const withoutHashes = (text: string): string =>
  text.replaceAll(/derived-\w{16}/g, 'derived').replaceAll(/-[0-9a-f]{20}\b/g, '-HASH');

const http = { name: 'http', protocol: 'TCP', port: 80 };

describe('plan', () => {
  it('prints the writes for exports, for people and for programs, and writes nothing', async ({ c1, c2 }) => {
    await c1.export('web', ['10.4.1.1', '10.4.1.2'], { ports: [http] });
    await c2.export('web', ['10.4.2.1'], { ports: [http, { ...http, name: 'admin', port: 81 }] });
    await c2.export('db', ['10.4.2.2'], { headless: true });
    const { code, stdout } = await c1.run(['plan']);
    expect({ code, lines: withoutHashes(stdout).split('\n') }).toEqual({
      code: 0,
      lines: [
        'create  ServiceImport shop/db',
        'create  EndpointSlice shop/db-HASH  1 endpoint',
        'change  ServiceImport shop/db  from c2; Ready=True Ready',
        'create  Service shop/derived',
        'create  EndpointSlice shop/web-HASH  1 endpoint',
        'create  EndpointSlice shop/web-HASH  2 endpoints',
        'create  ServiceImport shop/web',
        'change  ServiceImport shop/web  from c1, c2; Ready=True Ready',
        'change  ServiceExport shop/web  Valid=True Valid, Ready=True Ready, Conflict=True PortConflict',
        '',
        'c2: 0 services now',
        'empty   no Service matches mirror=true',
        '',
        'c2: its part in 0 imports now',
        '',
        'c1: its part in 0 imports now',
        '',
      ],
    });
    const json = await c1.run(['plan', '-o=json']);
    const { changes, exports } = JSON.parse(json.stdout) as Json;
    expect(changes.map(({ change, kind, namespace }) => `${change} ${kind} ${namespace}`)).toHaveLength(9);
    expect(changes[8]).toMatchObject({ change: 'change', kind: 'ServiceExport', namespace: 'shop', name: 'web' });
    expect(exports).toEqual([
      { cluster: 'c2', known: true, heldDeletions: 0, imports: [], skipped: [] },
      { cluster: 'c1', known: true, heldDeletions: 0, imports: [], skipped: [] },
    ]);
    expect(await c1.import('web')).toBeUndefined();
    expect(await c1.conditions('web')).toEqual([]);
  });

  it('prints what the API server would refuse, in its words', async ({ c1, set }) => {
    const message = 'serviceimports "db" is forbidden: exceeded quota: few';
    const filter = { method: 'POST', target: /\/serviceimports\?dryRun=All$/ };
    await set.path('c1', 'c1').set({ kind: 'answer', status: 403, message }, filter);
    const { code, stdout } = await c1.run(['plan']);
    await set.path('c1', 'c1').clear();
    expect({ code, refused: stdout.split('\n').filter((line) => line.startsWith('refuse')) }).toEqual({
      code: 0,
      refused: ['db', 'web'].map((name) =>
        expect.stringMatching(`^refuse! ServiceImport shop/${name}: ".*exceeded quota: few"$`),
      ),
    });
  });

  it('is empty after a run, and shows what an unexport deletes', async ({ c1, c2 }) => {
    await c1.start();
    await eventually(() => c1.importedFrom('web'), ['c1', 'c2']);
    await eventually(() => c1.addresses('db'), { c2: ['10.4.2.2'] });
    await eventually(async () => (await c1.conditions('web')).at(-1), 'Conflict=True PortConflict');
    await c1.stop();
    const again = await c1.run(['plan']);
    expect({ code: again.code, lines: again.stdout.split('\n').slice(0, 1) }).toEqual({
      code: 0,
      lines: ['Nothing to change.'],
    });
    await c2.unexport('db');
    const unexported = await c1.run(['plan']);
    expect(withoutHashes(unexported.stdout).split('\n').slice(0, 2)).toEqual([
      'delete  ServiceImport shop/db',
      'delete  EndpointSlice shop/db-HASH',
    ]);
  });

  it('says which imports stay while exports are unknown, and exits with 1', async ({ c1, set }) => {
    await set.path('c1', 'c2').set({ kind: 'answer', status: 403 }, { target: /serviceexports/ });
    const { code, stdout } = await c1.run(['plan', '-timeout=20s']);
    await set.path('c1', 'c2').clear();
    expect({ code, lines: stdout.split('\n') }).toEqual({
      code: 1,
      lines: [
        'change  ServiceExport shop/web  Valid=True Valid, Ready=True Ready, Conflict=True PortConflict',
        '',
        'c2: 0 services now',
        'empty   no Service matches mirror=true',
        expect.stringContaining('skip!   exports: its exports are unknown, so what is imported from it stays'),
        '',
        'c2: exports unknown: its part in 2 imports would stay',
        'unknown shop/db',
        'unknown shop/web',
        '',
        'c1: its part in 1 import now',
        '',
      ],
    });
  });
});
