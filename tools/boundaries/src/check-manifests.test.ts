import { describe, expect, it } from 'vitest';
import { checkManifests } from './check-manifests.ts';
import type { Project } from './project.ts';

function project(folder: string, tag: string | undefined, dependencies: readonly string[] = []): Project {
  const nameOf = (path: string) => `@kube-semaphore/${path.replace(/.*\//, '')}`;
  return {
    folder,
    name: nameOf(folder),
    tags: tag === undefined ? [] : [tag],
    dependencies: dependencies.map(nameOf),
    devDependencies: [],
    reads: [],
  };
}

const net = project('packages/net', 'type:pure');
const auth = project('packages/cluster-auth', 'type:lib', ['packages/net']);
const client = project('packages/kube-client', 'type:lib', ['packages/cluster-auth']);
const proxy = project('packages/fault-proxy', 'type:test');
const testkit = project('packages/testkit', 'type:test', ['packages/fault-proxy', 'packages/net']);
const policy = project('apps/policy', 'type:app', ['packages/kube-client', 'packages/net']);
const bench = project('tools/bench', 'type:tool', ['apps/policy', 'packages/testkit']);
const e2e = project('e2e', 'type:e2e', ['packages/testkit']);
const demo = project('tools/demo', 'type:tool', ['e2e', 'packages/testkit']);
const sound = [net, auth, client, proxy, testkit, policy, bench, e2e, demo];

/** The valid workspace with some projects replaced or added. */
function having(...changed: readonly Project[]): Project[] {
  return [...sound.filter(({ folder }) => !changed.some((project) => project.folder === folder)), ...changed];
}

describe('checkManifests', () => {
  it('finds nothing in a valid workspace', () => {
    expect(checkManifests(sound)).toEqual([]);
  });

  it('ignores packages from elsewhere', () => {
    expect(checkManifests([{ ...net, dependencies: ['ipaddr.js'] }])).toEqual([]);
  });

  const tags =
    'nx.tags must have exactly one of type:pure, type:lib, type:test, type:e2e, type:app, type:cli, type:tool';
  it.each([
    {
      name: 'a project without a tag',
      changed: [project('packages/net', undefined)],
      want: [`packages/net: ${tags}`],
    },
    {
      name: 'an unknown tag',
      changed: [project('packages/net', 'type:util')],
      want: [`packages/net: ${tags}`],
    },
    {
      name: 'two tags',
      changed: [{ ...net, tags: ['type:pure', 'type:lib'] }],
      want: [`packages/net: ${tags}`],
    },
    {
      name: 'a pure package that needs a library',
      changed: [project('packages/naming', 'type:pure', ['packages/cluster-auth'])],
      want: ['packages/naming -> packages/cluster-auth: type:pure may not depend on type:lib'],
    },
    {
      name: 'a library that needs an app',
      changed: [project('packages/kube-client', 'type:lib', ['apps/policy'])],
      want: [
        'cycle: apps/policy -> packages/kube-client -> apps/policy',
        'packages/kube-client -> apps/policy: type:lib may not depend on type:app',
      ],
    },
    {
      name: 'a library that needs the testkit',
      changed: [project('packages/kube-client', 'type:lib', ['packages/testkit'])],
      want: ['packages/kube-client -> packages/testkit: type:lib may not depend on type:test'],
    },
    {
      name: 'a testkit that needs the client it tests',
      changed: [project('packages/testkit', 'type:test', ['packages/kube-client'])],
      want: ['packages/testkit -> packages/kube-client: type:test may not depend on type:lib'],
    },
    {
      name: 'a package that needs the whole system',
      changed: [project('packages/testkit', 'type:test', ['e2e'])],
      want: ['cycle: e2e -> packages/testkit -> e2e', 'packages/testkit -> e2e: type:test may not depend on type:e2e'],
    },
    {
      name: 'an app that needs an app',
      changed: [project('apps/wireguard', 'type:app', ['apps/policy'])],
      want: ['apps/wireguard -> apps/policy: type:app may not depend on type:app'],
    },
    {
      name: 'an app that needs a tool',
      changed: [project('apps/wireguard', 'type:app', ['tools/bench'])],
      want: ['apps/wireguard -> tools/bench: type:app may not depend on type:tool'],
    },
    {
      name: 'a library that needs one above it',
      changed: [project('packages/runtime', 'type:lib', ['packages/kube-client'])],
      want: ['packages/runtime -> packages/kube-client: no such arrow in tools/boundaries/src/rules.ts'],
    },
    {
      name: 'a library without arrows of its own',
      changed: [project('packages/new', 'type:lib')],
      want: ['packages/new: a new library needs its arrows in tools/boundaries/src/rules.ts'],
    },
    {
      name: 'a cycle, once',
      changed: [
        project('packages/net', 'type:pure', ['packages/naming']),
        project('packages/naming', 'type:pure', ['packages/words']),
        project('packages/words', 'type:pure', ['packages/net']),
      ],
      want: ['cycle: packages/naming -> packages/words -> packages/net -> packages/naming'],
    },
    {
      name: 'a project that needs itself',
      changed: [project('packages/net', 'type:pure', ['packages/net'])],
      want: ['cycle: packages/net -> packages/net'],
    },
  ])('reports $name', ({ changed, want }) => {
    expect(checkManifests(having(...changed))).toEqual(want);
  });

  it('does not depend on the order of the projects', () => {
    const faulty = having(project('packages/net', 'type:pure', ['apps/policy']), project('packages/new', undefined));
    expect(checkManifests(faulty.toReversed())).toEqual(checkManifests(faulty));
  });
});
