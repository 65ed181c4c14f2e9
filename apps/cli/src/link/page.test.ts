import { describe, expect, it } from 'vitest';
import { type LinkedCluster, linkJson, linkText, type ObjectChange } from './page.ts';

const object = (kind: string, name: string, change: ObjectChange['change'] = 'created'): ObjectChange => ({
  kind,
  namespace: 'kube-system',
  name,
  change,
});

const cluster = (change: Partial<LinkedCluster> = {}): LinkedCluster => ({
  context: 'c1',
  name: 'c1',
  findings: [{ what: 'name', found: 'c1', source: 'the context' }],
  folder: {
    path: 'mesh/c1',
    change: { before: new Map([['link.json', '{}']]), after: new Map([['link.json', '{}']]) },
  },
  ranges: [],
  objects: [object('Namespace', 'a', 'unchanged')],
  names: ['c2'],
  ...change,
});

const files = (...names: readonly string[]) => ({
  path: 'mesh/c1',
  change: { before: new Map([['old.yaml', 'x']]), after: new Map(names.map((name) => [name, 'y'])) },
});

const text = (clusters: readonly LinkedCluster[], { isApplied = true, diff = false, problems = [] as string[] } = {}) =>
  linkText({ isApplied, clusters, notes: [], problems, next: 'semaphore check' }, { diff, paint: (_, plain) => plain });

describe('the page of a link', () => {
  it.each([
    { name: 'that nothing changes', change: {}, want: 'c1: nothing changes\nnow: semaphore check\n' },
    {
      name: 'objects by kind, apps and tokens first, and names in CoreDNS',
      change: {
        objects: [
          object('ConfigMap', 'coredns', 'changed'),
          object('NetworkPolicy', 'a'),
          object('NetworkPolicy', 'b'),
          object('Secret', 'semaphore-policy-watcher'),
          object('Secret', 'semaphore-policy-c2'),
          object('DaemonSet', 'a'),
          object('Lease', 'a', 'changed'),
          object('Lease', 'b', 'unchanged'),
        ],
      },
      want:
        'c1:\n  objects  5 created: 1 app, 1 token, 2 NetworkPolicies, 1 Secret;\n' +
        '           1 changed: 1 Lease; 1 unchanged\n  DNS      Corefile changed: names of c2\nnow: semaphore check\n',
    },
    {
      name: 'what is to change, and what is not known',
      isApplied: false,
      change: { objects: [object('Lease', 'a')], unknown: 'c1 is not reached' },
      want: 'c1:\n  objects  1 to create: 1 Lease\n  objects  not known: c1 is not reached\nto apply it: semaphore check\n',
    },
    {
      name: 'texts of clusters, escaped',
      change: { context: 'c\u001b[2J', unknown: 'a\nb' },
      want: 'c\\u001b[2J:\n  objects  1 unchanged\n  objects  not known: a\\nb\nnow: semaphore check\n',
    },
  ])('says $name', ({ change, isApplied = true, want }) => {
    expect(text([cluster(change)], { isApplied })).toBe(want);
  });

  it('names a few files, counts more, and says what it found when files change', () => {
    const few = text([cluster({ folder: files('old.yaml', 'b.yaml', 'deploy/a', 'deploy/b') })]);
    expect(few).toMatch(/^CONTEXT .*\nc1 .*\n\n/);
    expect(few).toContain('  files    mesh/c1: b.yaml and 2 manifests created; old.yaml changed\n');
    const many = text([cluster({ folder: files('a.yaml', 'b.yaml', 'c.yaml', 'd.yaml') })]);
    expect(many).toContain('  files    mesh/c1: 4 files created\n');
  });

  it('has lines of at most 80 characters', () => {
    const objects = Array.from({ length: 40 }, (_, i) => object(`ValidatingAdmissionPolicy${'x'.repeat(i)}`, 'a'));
    const lines = text([cluster({ objects })]).split('\n');
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(80);
    expect(lines.length).toBeGreaterThan(10);
  });

  it('has each line and object if asked to', () => {
    const shown = text([cluster({ folder: files('old.yaml') })], { isApplied: false, diff: true });
    expect(shown).toContain('mesh/c1/old.yaml\n- x\n+ y\nc1: Namespace kube-system/a unchanged\nc1:\n');
  });

  it('says what a run did that failed, of the clusters that it changed', () => {
    const clusters = [cluster({ objects: [object('Lease', 'a')] }), cluster({ context: 'c2' })];
    const failed = linkText(
      { isApplied: true, clusters, notes: [], problems: ['c2 is gone'] },
      { diff: false, paint: (_, plain) => plain },
    );
    expect(failed.slice(failed.indexOf('\n\n'))).toBe('\n\nc1:\n  objects  1 created: 1 Lease\n');
  });

  it('is JSON for programs, with the same content', () => {
    const clusters = [cluster({ folder: files('old.yaml', 'b.yaml'), unknown: 'why' })];
    const page = { isApplied: false, clusters, notes: ['n'], problems: [], next: 'semaphore check' };
    expect(JSON.parse(linkJson(page))).toEqual({
      schemaVersion: '1',
      ok: true,
      applied: false,
      clusters: [
        {
          cluster: 'c1',
          name: 'c1',
          findings: [{ what: 'name', found: 'c1', source: 'the context' }],
          folder: 'mesh/c1',
          files: { created: ['b.yaml'], changed: ['old.yaml'], removed: [] },
          ranges: [],
          objects: [{ kind: 'Namespace', namespace: 'kube-system', name: 'a', change: 'unchanged' }],
          unknown: 'why',
        },
      ],
      notes: ['n'],
      problems: [],
      next: 'semaphore check',
    });
  });
});
